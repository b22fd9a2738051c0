//! Tools that stream: what their items become, what ends them early, and what is told of them on the way.

use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use tokio_stream::StreamExt;
use treenail::prelude::*;
use treenail::schema::{AudioContent, ContentBlock, Revision};
use treenail::{Limits, Received, Server};

use crate::peer::{MODERN, Peer, text};

/// A picture of the radar.
#[mcp_type]
struct Frame {
    at: u32,
    note: Option<String>,
}

impl Frame {
    fn new(at: u32) -> Self {
        let note = (at == 2).then(|| "a \"b\"".to_owned());
        Self { at, note }
    }
}

type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// Items up to a number, and then an end.
fn up_to<T>(to: u32, make: impl Fn(u32) -> T) -> impl Stream<Item = T> {
    tokio_stream::iter(1..=to).map(make)
}

/// A failure in the place of the item `at`.
fn failing<T>(at: u32, make: impl Fn(u32) -> T) -> impl Fn(u32) -> Result<T, String> {
    move |item| {
        if item == at {
            Err(format!("no item {at}"))
        } else {
            Ok(make(item))
        }
    }
}

fn word(at: u32) -> String {
    ["a \"b\"\n", "c\\d ", "e"][at as usize % 3].to_owned()
}

fn block(at: u32) -> ContentBlock {
    match at % 3 {
        0 => AudioContent::new("UklGRg==", "audio/wav").into(),
        _ => ContentBlock::text(word(at)),
    }
}

#[mcp_tool]
fn words(to: u32) -> impl Stream<Item = String> {
    up_to(to, word)
}

#[mcp_tool(fold = "collect")]
fn words_listed(to: u32) -> impl Stream<Item = String> {
    up_to(to, word)
}

#[mcp_tool(fold = "last")]
fn last_word(to: u32) -> impl Stream<Item = Option<String>> {
    up_to(to, |at| (at < 4).then(|| word(at)))
}

#[mcp_tool]
fn frames(to: u32) -> impl Stream<Item = Frame> {
    up_to(to, Frame::new)
}

#[mcp_tool(fold = "concat")]
async fn frame_lines(to: u32) -> impl Stream<Item = Frame> {
    tokio::task::yield_now().await;
    up_to(to, Frame::new)
}

#[mcp_tool(fold = "last")]
fn last_frame(to: u32) -> impl Stream<Item = Frame> {
    up_to(to, Frame::new)
}

#[mcp_tool(stream, fold = "last")]
fn last_number(to: u32) -> BoxStream<'static, u32> {
    Box::pin(up_to(to, |at| at * 10))
}

#[mcp_tool]
fn ticks(to: u32) -> impl Stream<Item = ()> {
    up_to(to, |_| ())
}

#[mcp_tool]
fn blocks(to: u32) -> impl Stream<Item = ContentBlock> {
    up_to(to, block)
}

#[mcp_tool(fold = "concat")]
fn blocks_joined(to: u32) -> impl Stream<Item = ContentBlock> {
    up_to(to, block)
}

#[mcp_tool(fold = "last")]
fn last_block(to: u32) -> impl Stream<Item = ContentBlock> {
    up_to(to, block)
}

#[mcp_tool]
fn words_fail(at: u32) -> impl Stream<Item = Result<String, String>> {
    up_to(4, failing(at, word))
}

#[mcp_tool(stream)]
async fn frames_fail(at: u32) -> Result<BoxStream<'static, Result<Frame, String>>, String> {
    if at == 0 {
        return Err("no stream".to_owned());
    }
    Ok(Box::pin(up_to(4, failing(at, Frame::new))))
}

#[mcp_tool(fold = "last")]
fn last_frame_fails(at: u32) -> impl Stream<Item = Result<Frame, String>> {
    up_to(4, failing(at, Frame::new))
}

#[mcp_tool]
fn blocks_fail(at: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>> {
    up_to(4, failing(at, block)).map(|block| {
        block.map_err(|error| {
            ToolError::with_content(vec![
                ContentBlock::text(error),
                AudioContent::new("UklGRg==", "audio/wav").into(),
            ])
        })
    })
}

#[mcp_tool]
async fn words_panic(at: u32, later: bool) -> impl Stream<Item = String> {
    let words = up_to(4, move |item| {
        assert_ne!(item, at, "a secret");
        word(item)
    });
    words.then(move |word| async move {
        if later {
            tokio::task::yield_now().await;
        }
        word
    })
}

#[mcp_tool]
fn unwritable() -> impl Stream<Item = std::collections::BTreeMap<(u8, u8), u8>> {
    tokio_stream::iter([std::collections::BTreeMap::from([((1, 2), 3)])])
}

/// One text of `to` bytes or a little more.
#[mcp_tool]
fn long_word(to: usize) -> impl Stream<Item = String> {
    tokio_stream::iter(["é\"".repeat(to.div_ceil(3))])
}

/// What its tools borrow, and where they tell how they are.
struct Station {
    names: Vec<String>,
    /// Items that `endless` and `eager` have made.
    made: Arc<AtomicUsize>,
    /// Whether a stream is there.
    open: Arc<AtomicBool>,
    /// Told when a stream is dropped.
    dropped: Arc<Notify>,
    gate: Arc<Semaphore>,
}

/// Says that a stream is there, until it is dropped.
struct Guard {
    open: Arc<AtomicBool>,
    dropped: Arc<Notify>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.open.store(false, Ordering::SeqCst);
        self.dropped.notify_one();
    }
}

/// Numbers that come as soon as they are asked for, without an end.
struct Numbers {
    made: Arc<AtomicUsize>,
    _guard: Guard,
}

impl Stream for Numbers {
    type Item = usize;

    fn poll_next(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> task::Poll<Option<usize>> {
        task::Poll::Ready(Some(1 + self.made.fetch_add(1, Ordering::SeqCst)))
    }
}

impl Station {
    fn numbers(&self) -> Numbers {
        self.open.store(true, Ordering::SeqCst);
        Numbers {
            made: Arc::clone(&self.made),
            _guard: Guard {
                open: Arc::clone(&self.open),
                dropped: Arc::clone(&self.dropped),
            },
        }
    }
}

#[mcp_tool(namespace = "station")]
impl Station {
    #[tool]
    fn names(&self, cx: &Context) -> impl Stream<Item = String> {
        let id = cx.request_id();
        tokio_stream::iter(&self.names).map(move |name| format!("{name} for {id}, "))
    }

    #[tool(stream)]
    async fn boxed(&self, cx: &Context) -> Result<BoxStream<'_, String>, String> {
        let _ = cx.meta();
        tokio::task::yield_now().await;
        Ok(Box::pin(tokio_stream::iter(&self.names).map(String::clone)))
    }

    /// Never ends and never waits.
    #[tool(stream, fold = "last")]
    fn eager(&self) -> Numbers {
        self.numbers()
    }

    /// Never ends, and waits at the gate before each item.
    #[tool]
    fn endless(&self) -> impl Stream<Item = usize> {
        self.numbers().then(move |number| async move {
            self.gate
                .acquire()
                .await
                .expect("it is never closed")
                .forget();
            number
        })
    }

    /// Tells of progress itself, too.
    #[tool]
    fn telling(cx: &Context) -> impl Stream<Item = u32> {
        up_to(3, |at| at).then(move |at| async move {
            if at == 2 {
                cx.progress(50).message("half").await;
                cx.progress(1).await;
            }
            at
        })
    }
}

struct Fixture {
    server: Server,
    made: Arc<AtomicUsize>,
    open: Arc<AtomicBool>,
    dropped: Arc<Notify>,
    gate: Arc<Semaphore>,
}

fn fixture(limits: Limits) -> Fixture {
    let station = Station {
        names: vec!["north".to_owned(), "south".to_owned()],
        made: Arc::default(),
        open: Arc::default(),
        dropped: Arc::default(),
        gate: Arc::new(Semaphore::new(0)),
    };
    let (made, open) = (Arc::clone(&station.made), Arc::clone(&station.open));
    let (dropped, gate) = (Arc::clone(&station.dropped), Arc::clone(&station.gate));
    let tools = tools![
        words,
        words_listed,
        last_word,
        frames,
        frame_lines,
        last_frame,
        last_number,
        ticks,
        blocks,
        blocks_joined,
        last_block,
        words_fail,
        frames_fail,
        last_frame_fails,
        blocks_fail,
        words_panic,
        unwritable,
        long_word,
    ];
    let server = treenail::server!()
        .mount(station)
        .tools(tools)
        .limits(limits);
    Fixture {
        server: server.build().unwrap(),
        made,
        open,
        dropped,
        gate,
    }
}

fn server() -> Server {
    fixture(Limits::default()).server
}

/// The texts of all blocks; other blocks are told by their type.
fn texts(result: &Value) -> Value {
    let blocks = result["content"].as_array().unwrap().iter();
    let text = |block: &Value| block.get("text").unwrap_or(&block["type"]).clone();
    blocks.map(text).collect()
}

/// The texts of `content` as a peer of a revision gets them, where `audio` is a block of that type.
fn spoken(content: &Value, revision: Revision) -> Value {
    let spoken = |block: &Value| match revision {
        Revision::V2024_11_05 if block == "audio" => {
            "[audio of type audio/wav, which this client cannot take]".into()
        }
        _ => block.clone(),
    };
    content.as_array().unwrap().iter().map(spoken).collect()
}

/// What a peer of a revision gets of structured content: SRV-TOOL-13, SRV-TOOL-14.
fn structured(value: &Value, revision: Revision) -> Option<&Value> {
    let allowed = match revision {
        MODERN => true,
        _ => value.is_object() && revision >= Revision::V2025_06_18,
    };
    (allowed && !value.is_null()).then_some(value)
}

fn frame(at: u32) -> Value {
    json!(Frame::new(at))
}

#[tokio::test]
async fn items_become_one_result_by_their_fold() {
    // SRV-TOOL-09, SRV-TOOL-10, SRV-TOOL-13, SRV-TOOL-14
    let lines = format!("{}\n{}", frame(1), frame(2));
    let two = json!([frame(1), frame(2)]);
    let table = [
        ("words", 4, json!(["c\\d ea \"b\"\nc\\d "]), json!(null)),
        ("words", 0, json!([]), json!(null)),
        (
            "words_listed",
            2,
            json!([r#"["c\\d ","e"]"#]),
            json!(["c\\d ", "e"]),
        ),
        ("last_word", 2, json!(["e"]), json!(null)),
        ("last_word", 4, json!([]), json!(null)),
        ("last_word", 0, json!([]), json!(null)),
        ("frames", 2, json!([two.to_string()]), two.clone()),
        ("frames", 0, json!(["[]"]), json!([])),
        ("frame_lines", 2, json!([lines]), json!(null)),
        ("last_frame", 2, json!([frame(2).to_string()]), frame(2)),
        ("last_number", 3, json!(["30"]), json!(30)),
        ("ticks", 3, json!([]), json!(null)),
        ("ticks", 0, json!([]), json!(null)),
        ("blocks", 2, json!(["c\\d ", "e"]), json!(null)),
        ("blocks", 0, json!([]), json!(null)),
        ("blocks_joined", 2, json!(["c\\d e"]), json!(null)),
        ("last_block", 2, json!(["e"]), json!(null)),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, to, content, value) in &table {
            let result = peer.call(name, json!({"to": to})).await;
            assert_eq!(texts(&result), *content, "{name} to {to} in {revision}");
            let expected = structured(value, revision);
            assert_eq!(
                result.get("structuredContent"),
                expected,
                "{name} to {to} in {revision}"
            );
            assert_eq!(result.get("isError"), None, "{name} to {to}");
        }
    }
}

#[tokio::test]
async fn blocks_are_those_that_the_revision_knows() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let audio = match revision {
            Revision::V2024_11_05 => "[audio of type audio/wav, which this client cannot take]",
            _ => "audio",
        };
        let result = peer.call("blocks", json!({"to": 3})).await;
        assert_eq!(texts(&result), json!(["c\\d ", "e", audio]));
        let result = peer.call("blocks_joined", json!({"to": 5})).await;
        let expected = match revision {
            Revision::V2024_11_05 => json!([format!("c\\d e{audio}c\\d e")]),
            _ => json!(["c\\d e", audio, "c\\d e"]),
        };
        assert_eq!(texts(&result), expected, "{revision}");
    }
}

#[tokio::test]
async fn the_declared_schema_is_that_of_the_fold() {
    // SRV-TOOL-11
    let frame = json!({"type": "object", "properties": {
        "at": {"type": "integer", "minimum": 0},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }, "required": ["at", "note"]});
    let table = [
        ("words", None),
        (
            "words_listed",
            Some(json!({"type": "array", "items": {"type": "string"}})),
        ),
        ("last_word", None),
        ("frames", Some(json!({"type": "array", "items": frame}))),
        ("frame_lines", None),
        ("last_frame", Some(frame.clone())),
        (
            "last_number",
            Some(json!({"type": "integer", "minimum": 0})),
        ),
        ("ticks", None),
        ("blocks", None),
        (
            "frames_fail",
            Some(json!({"type": "array", "items": frame})),
        ),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let answer = peer.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        for (name, schema) in &table {
            let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
            let mut found = tool.get("outputSchema").cloned();
            if let Some(schema) = &mut found {
                forget_titles(schema);
            }
            let told = schema.clone().filter(|schema| match revision {
                MODERN => true,
                _ => schema["type"] == "object" && revision >= Revision::V2025_06_18,
            });
            assert_eq!(found, told, "{name} in {revision}");
        }
    }
}

/// Takes out what is for people.
fn forget_titles(schema: &mut Value) {
    for part in ["", "/items"] {
        if let Some(Value::Object(part)) = schema.pointer_mut(part) {
            part.remove("title");
            part.remove("description");
        }
    }
}

#[tokio::test]
async fn a_failure_keeps_what_came_before_it() {
    // SRV-TOOL-16
    let two = json!([frame(1), frame(2)]);
    let table = [
        ("words_fail", 3, json!(["c\\d e", "no item 3"]), json!(null)),
        ("words_fail", 1, json!(["no item 1"]), json!(null)),
        (
            "frames_fail",
            3,
            json!([two.to_string(), "no item 3"]),
            two.clone(),
        ),
        ("frames_fail", 1, json!(["no item 1"]), json!(null)),
        ("frames_fail", 0, json!(["no stream"]), json!(null)),
        (
            "last_frame_fails",
            3,
            json!([frame(2).to_string(), "no item 3"]),
            frame(2),
        ),
        ("last_frame_fails", 1, json!(["no item 1"]), json!(null)),
        (
            "blocks_fail",
            2,
            json!(["c\\d ", "no item 2", "audio"]),
            json!(null),
        ),
        ("blocks_fail", 1, json!(["no item 1", "audio"]), json!(null)),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, at, content, value) in &table {
            let result = peer.call(name, json!({"at": at})).await;
            let content = spoken(content, revision);
            assert_eq!(texts(&result), content, "{name} at {at} in {revision}");
            let expected = structured(value, revision);
            assert_eq!(
                result.get("structuredContent"),
                expected,
                "{name} at {at} in {revision}"
            );
            assert_eq!(result["isError"], true, "{name} at {at}");
        }
        let result = peer.call("unwritable", json!({})).await;
        let unwritable = "an item could not be written as JSON: key must be a string";
        assert_eq!(texts(&result), json!([unwritable]));
        let result = peer.call("last_frame", json!({"to": 0})).await;
        assert_eq!(texts(&result), json!(["the stream ended without an item"]));
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn a_panic_keeps_what_came_before_it_and_its_secret() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for later in [false, true] {
            let failed = "the tool `words_panic` failed unexpectedly; this is a bug in the server";
            let result = peer
                .call("words_panic", json!({"at": 3, "later": later}))
                .await;
            assert_eq!(texts(&result), json!(["c\\d e", failed]));
            assert_eq!(result["isError"], true);
            let result = peer
                .call("words_panic", json!({"at": 1, "later": later}))
                .await;
            assert_eq!(texts(&result), json!([failed]));
        }
        assert_eq!(text(&peer.call("words", json!({"to": 1})).await), "c\\d ");
    }
}

#[tokio::test]
async fn bounds_stop_a_stream_and_keep_what_came_before() {
    let limits = Limits {
        stream_items: 3,
        stream_bytes: 60,
        ..Limits::default()
    };
    let items = "stopped after 3 items, the most that the server takes of one stream";
    let bytes = |items| {
        format!(
            "stopped after {items} items; with the next one there would be more than 60 bytes, the most that the server \
             takes of one stream"
        )
    };
    let three = json!(["c\\d ea \"b\"\n", items]);
    // A frame without a note has 20 bytes, the second one 28: {"at":2,"note":"a \"b\""}.
    let table = [
        ("words", 3, json!(["c\\d ea \"b\"\n"])),
        ("words", 4, three),
        ("last_number", 9, json!(["30", items])),
        (
            "frames",
            2,
            json!([json!([frame(1), frame(2)]).to_string()]),
        ),
        (
            "frames",
            4,
            json!([json!([frame(1), frame(2)]).to_string(), bytes(2)]),
        ),
        (
            "frame_lines",
            4,
            json!([format!("{}\n{}", frame(1), frame(2)), bytes(2)]),
        ),
        ("blocks", 3, json!(["c\\d ", "e", bytes(2)])),
        ("long_word", 61, json!([bytes(0)])),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&fixture(limits.clone()).server, revision).await;
        for (name, to, content) in &table {
            let result = peer.call(name, json!({"to": to})).await;
            assert_eq!(texts(&result), *content, "{name} to {to} in {revision}");
            let failed = content.to_string().contains("stopped");
            assert_eq!(result.get("isError").is_some(), failed, "{name} to {to}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_never_waits_ends_at_the_bound_and_is_dropped() {
    let fixture = fixture(Limits {
        stream_items: 1_000,
        ..Limits::default()
    });
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    let result = peer.call("station.eager", json!({})).await;
    assert_eq!(result["structuredContent"], 1_000);
    assert_eq!(fixture.made.load(Ordering::SeqCst), 1_001);
    assert!(!fixture.open.load(Ordering::SeqCst));
}

#[tokio::test]
async fn streams_borrow_from_what_their_function_takes() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let id = peer
            .begin("tools/call", json!({"name": "station.names"}))
            .await;
        let answer = peer.receive("tools/call").await;
        let expected = format!("north for {id}, south for {id}, ");
        assert_eq!(text(&answer["result"]), expected);
        assert_eq!(
            text(&peer.call("station.boxed", json!({})).await),
            "northsouth"
        );
    }
}

/// What is told of a call, and its result.
async fn told(peer: &mut Peer, name: &str, arguments: Value, meta: Value) -> (Vec<Value>, Value) {
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    let (notifications, mut answer) = peer.request_told("tools/call", params).await;
    let params = notifications
        .into_iter()
        .map(|mut told| told["params"].take());
    (params.collect(), answer["result"].take())
}

#[tokio::test]
async fn each_item_is_progress_for_those_who_ask() {
    // SRV-PROG-01 to SRV-PROG-06: also where no more than one message fits into the queue.
    for queued_messages in [1, 64] {
        let limits = Limits {
            queued_messages,
            ..Limits::default()
        };
        for revision in Revision::ALL {
            let mut peer = Peer::connect(&fixture(limits.clone()).server, revision).await;
            for token in [json!(7), json!("seven")] {
                let meta = json!({"progressToken": token});
                let (notifications, result) =
                    told(&mut peer, "words", json!({"to": 3}), meta.clone()).await;
                let progress =
                    |at: u32| json!({"progressToken": token, "progress": at, "message": word(at)});
                assert_eq!(notifications, [progress(1), progress(2), progress(3)]);
                assert_eq!(text(&result), "c\\d ea \"b\"\n");

                let (notifications, _) = told(&mut peer, "frames", json!({"to": 2}), meta).await;
                let progress = |at: u32| json!({"progressToken": token, "progress": at});
                assert_eq!(notifications, [progress(1), progress(2)]);
            }
            for meta in [
                json!({}),
                json!({"progressToken": null}),
                json!({"treenail/items": true}),
            ] {
                let (notifications, _) = told(&mut peer, "words", json!({"to": 3}), meta).await;
                assert_eq!(notifications, [] as [Value; 0]);
            }
        }
    }
}

#[tokio::test]
async fn the_items_themselves_are_told_to_those_who_take_them() {
    // ALL-META-08: a client that has put `treenail/items` into its `_meta` knows `treenail/item` in ours.
    let item = |at: u32, value: Value, message: Option<String>| {
        let mut params =
            json!({"progressToken": 1, "progress": at, "_meta": {"treenail/item": value}});
        if let Some(message) = message {
            params["message"] = message.into();
        }
        params
    };
    let text_block = |at: u32| json!({"type": "text", "text": word(at)});
    let table = [
        ("frames", [item(1, frame(1), None), item(2, frame(2), None)]),
        (
            "last_frame",
            [item(1, frame(1), None), item(2, frame(2), None)],
        ),
        (
            "frame_lines",
            [item(1, frame(1), None), item(2, frame(2), None)],
        ),
        (
            "words",
            [1, 2].map(|at| item(at, word(at).into(), Some(word(at)))),
        ),
        (
            "last_word",
            [1, 2].map(|at| item(at, word(at).into(), Some(word(at)))),
        ),
        (
            "blocks",
            [1, 2].map(|at| item(at, text_block(at), Some(word(at)))),
        ),
        (
            "blocks_joined",
            [1, 2].map(|at| item(at, text_block(at), Some(word(at)))),
        ),
        ("ticks", [1, 2].map(|at| item(at, Value::Null, None))),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, expected) in &table {
            let meta = json!({"progressToken": 1, "treenail/items": true});
            let (notifications, _) = told(&mut peer, name, json!({"to": 2}), meta).await;
            assert_eq!(notifications, expected, "{name} in {revision}");
        }
        for wanted in [json!(false), json!("true"), json!(1)] {
            let meta = json!({"progressToken": 1, "treenail/items": wanted});
            let (notifications, _) = told(&mut peer, "frames", json!({"to": 1}), meta).await;
            assert_eq!(notifications, [json!({"progressToken": 1, "progress": 1})]);
        }
    }
}

#[tokio::test]
async fn a_long_text_is_cut_off_in_a_message_and_whole_in_the_item() {
    // SRV-PROG-04: a message is for people.
    let mut peer = Peer::connect(&server(), MODERN).await;
    let meta = json!({"progressToken": 1, "treenail/items": true});
    for (to, message) in [(30, 30), (6_000, 4_095)] {
        let (notifications, result) =
            told(&mut peer, "long_word", json!({"to": to}), meta.clone()).await;
        let whole = text(&result);
        assert_eq!(notifications[0]["_meta"]["treenail/item"], whole);
        let told = notifications[0]["message"].as_str().unwrap();
        assert_eq!(told.trim_end_matches('…').len(), message);
        assert!(whole.starts_with(told.trim_end_matches('…')));
        assert_eq!(told.ends_with('…'), whole.len() > message);
    }
}

#[test]
fn a_stream_that_is_ready_at_once_is_answered_in_place() {
    for token in ["", r#""progressToken":1,"#] {
        let mut connection = server().connect();
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"words","arguments":{{"to":9}},"_meta":{{{token}
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let mut out = Vec::new();
        let received = connection.receive(request.as_bytes(), &mut out);
        assert!(matches!(received, Received::Done), "{received:?}");
        assert!(out.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"content":"#));
    }
}

#[tokio::test]
async fn progress_of_the_function_and_of_its_items_is_one_sequence() {
    // SRV-PROG-02: what the function tells that is no more than has been told is not sent, an item always is.
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let meta = json!({"progressToken": 1});
        let (notifications, _) = told(&mut peer, "station.telling", json!({}), meta).await;
        let progress: Vec<_> = notifications
            .iter()
            .map(|params| params["progress"].as_f64().unwrap())
            .collect();
        assert_eq!(progress, [1.0, 50.0, 51.0, 52.0], "{notifications:?}");
    }
}

/// Takes the progress of all these items: nothing is lost.
async fn hear(peer: &mut Peer, items: RangeInclusive<usize>) {
    for item in items {
        let told = peer.receive_any().await.unwrap();
        assert_eq!(told["params"]["progress"], item);
    }
}

async fn cancel(peer: &mut Peer, id: i64) {
    let params = json!({"requestId": id});
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
}

#[tokio::test]
async fn cancellation_drops_a_stream_and_nothing_is_sent_for_it_any_more() {
    // SRV-STDIO-04, SRV-STDIO-05, SRV-CANC-03: whether it waits, never waits, or waits for its reader.
    for (name, queued_messages, token) in [
        ("station.endless", 64, json!(1)),
        ("station.endless", 64, json!(null)),
        ("station.eager", 64, json!(null)),
    ] {
        for revision in Revision::ALL {
            let fixture = fixture(Limits {
                queued_messages,
                stream_items: usize::MAX,
                ..Limits::default()
            });
            let mut peer = Peer::connect(&fixture.server, revision).await;
            let params = json!({"name": name, "_meta": {"progressToken": token}});
            let id = peer.begin("tools/call", params).await;
            if token.is_number() {
                fixture.gate.add_permits(2);
                hear(&mut peer, 1..=2).await;
            }
            cancel(&mut peer, id).await;
            fixture.dropped.notified().await;
            assert!(!fixture.open.load(Ordering::SeqCst));
            fixture.gate.add_permits(10);
            assert_eq!(
                peer.finish().await,
                [] as [Value; 0],
                "{name} in {revision}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_holds_a_stream_back() {
    let limits = Limits {
        queued_messages: 2,
        queued_output_bytes: 1_000,
        stream_items: usize::MAX,
        ..Limits::default()
    };
    let fixture = fixture(limits);
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    let params =
        json!({"name": "station.eager", "_meta": {"progressToken": "t", "treenail/items": true}});
    let id = peer.begin("tools/call", params).await;
    // Time passes only when nothing can go on.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let made = fixture.made.load(Ordering::SeqCst);
    // The pipe holds 64 KiB, and one message has more than 100 bytes.
    assert!((100..700).contains(&made), "{made} items were made");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        fixture.made.load(Ordering::SeqCst),
        made,
        "the stream stands still"
    );
    hear(&mut peer, 1..=made).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(fixture.made.load(Ordering::SeqCst) > made, "it goes on");
    cancel(&mut peer, id).await;
    while fixture.open.load(Ordering::SeqCst) {
        peer.receive_any().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_the_client_is_gone() {
    for (name, meta) in [
        ("station.endless", json!({})),
        ("station.eager", json!({})),
        ("station.eager", json!({"progressToken": 1})),
    ] {
        let fixture = fixture(Limits {
            stream_items: usize::MAX,
            finish_calls_within: Duration::ZERO,
            ..Limits::default()
        });
        let mut peer = Peer::connect(&fixture.server, MODERN).await;
        peer.begin("tools/call", json!({"name": name, "_meta": meta}))
            .await;
        while fixture.made.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        drop(peer);
        fixture.dropped.notified().await;
    }
}
