//! Streaming tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_stream::StreamExt;
use treenail::client::{ClientError, ClientLimits, TypedStream};
use treenail::prelude::*;
use treenail::schema::{ContentBlock, Revision, TextContent};

use super::station::{Frame, client};
use crate::script::{Reply, discovered, scripted};

#[mcp_client]
trait Streams {
    fn frames(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>>;
    #[tool(fold = "concat")]
    fn frame_lines(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>>;
    #[tool(fold = "last")]
    fn last_frame(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>>;
    fn words(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
    #[tool(fold = "collect")]
    fn word_list(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
    #[tool(fold = "last")]
    fn last_word(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
    fn blocks(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>>;
    #[tool(fold = "concat")]
    fn blocks_joined(&self, to: u32) -> impl Stream<Item = Result<TextContent, ToolError>>;
    #[tool(fold = "last")]
    fn last_block(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>>;
    fn ticks(&self, to: u32) -> impl Stream<Item = Result<(), ToolError>>;
    /// Waits for a permit before each item.
    fn slow(&self, to: u32) -> impl Stream<Item = Result<u32, ToolError>>;
    /// Reports its own progress.
    fn with_progress(&self, cx: &Context) -> impl Stream<Item = Result<u32, ToolError>>;
}

#[derive(Clone)]
struct Source(Arc<Semaphore>);

/// Returns the items 1 to `to`, with a failure in place of 7.
fn items<T>(to: u32, make: fn(u32) -> T) -> impl Stream<Item = Result<T, ToolError>> {
    let item = move |at| match at {
        7 => Err(ToolError::new("seven")),
        at => Ok(make(at)),
    };
    tokio_stream::iter((1..=to).map(item))
}

fn frame(minute: u32) -> Frame {
    Frame { minute }
}

fn word(at: u32) -> String {
    format!("\"w{at}\"\n")
}

#[mcp_tool]
impl Streams for Source {
    fn frames(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>> {
        items(to, frame)
    }
    fn frame_lines(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>> {
        items(to, frame)
    }
    fn last_frame(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>> {
        items(to, frame)
    }
    fn words(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        items(to, word)
    }
    fn word_list(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        items(to, word)
    }
    fn last_word(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        items(to, word)
    }
    fn blocks(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>> {
        items(to, |at| word(at).into())
    }
    fn blocks_joined(&self, to: u32) -> impl Stream<Item = Result<TextContent, ToolError>> {
        items(to, |at| TextContent::new(word(at)))
    }
    fn last_block(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>> {
        items(to, |at| word(at).into())
    }
    fn ticks(&self, to: u32) -> impl Stream<Item = Result<(), ToolError>> {
        items(to, |_| ())
    }
    fn slow(&self, to: u32) -> impl Stream<Item = Result<u32, ToolError>> {
        let permits = Arc::clone(&self.0);
        tokio_stream::iter(1..=to).then(move |at| {
            let permits = Arc::clone(&permits);
            async move {
                permits.acquire().await?.forget();
                Ok(at)
            }
        })
    }
    fn with_progress(&self, cx: &Context) -> impl Stream<Item = Result<u32, ToolError>> {
        tokio_stream::iter(1..=3).then(move |at| async move {
            if at == 2 {
                cx.progress(50.0).await;
            }
            Ok(at)
        })
    }
}

fn source() -> (Server, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(0));
    let server = treenail::server!().mount(Source(Arc::clone(&permits)));
    (server.build().unwrap(), permits)
}

/// Returns all items, and the error at the end, if any.
async fn all<T: fmt::Debug>(mut stream: TypedStream<T>) -> (Vec<T>, Option<ClientError>) {
    let (mut items, mut end) = (Vec::new(), None);
    while let Some(next) = stream.next().await {
        assert!(end.is_none(), "the error comes last");
        match next {
            Ok(item) => items.push(item),
            Err(error) => end = Some(error),
        }
    }
    assert!(stream.next().await.is_none(), "the end is the end");
    (items, end)
}

/// Returns a client whose server sends items, one with room for only two of them, and one without any room.
async fn clients(server: &Server, revision: Revision) -> [(StreamsClient, usize); 3] {
    let of = |queued| async move {
        let limits = ClientLimits::default().queued_notifications(queued);
        let builder = McpClient::builder().server(server).limits(limits);
        let client = builder.protocol_version(revision).build().await.unwrap();
        (StreamsClient::new(&client), queued)
    };
    [of(1_024).await, of(2).await, of(0).await]
}

#[tokio::test]
async fn each_item_arrives_once_and_in_order() {
    let (server, _) = source();
    for revision in Revision::ALL {
        for (streams, queued) in clients(&server, revision).await {
            let at = format!("{revision}, {queued}");
            for to in [0, 1, 5] {
                let numbers = || 1..=to;
                let frames: Vec<_> = numbers().map(frame).collect();
                let words: Vec<_> = numbers().map(word).collect();
                let text = words.concat();
                let (items, end) = all(streams.frames(to)).await;
                assert_eq!((items, end.is_none()), (frames.clone(), true), "{at}");
                let (items, _) = all(streams.frame_lines(to)).await;
                assert_eq!(items, frames, "{at}");
                let (items, _) = all(streams.words(to)).await;
                assert_eq!(items.concat(), text, "{at}");
                let (items, _) = all(streams.word_list(to)).await;
                assert_eq!(items, words, "{at}");
                let (items, _) = all(streams.blocks(to)).await;
                let texts: Vec<_> = items.iter().filter_map(|block| block.as_text()).collect();
                assert_eq!(texts, words, "{at}");
                let (items, _) = all(streams.blocks_joined(to)).await;
                let texts = items.iter().map(|block| &*block.text);
                assert_eq!(texts.collect::<String>(), text, "{at}");
                let (items, _) = all(streams.last_word(to)).await;
                assert_eq!(items.last(), words.last(), "{at}");
                let (items, _) = all(streams.last_block(to)).await;
                let last = items.last().and_then(|block| block.as_text());
                assert_eq!(last, words.last().map(String::as_str), "{at}");
                let (items, end) = all(streams.last_frame(to)).await;
                assert_eq!(items.last(), frames.last(), "{at}");
                assert_eq!(
                    end.is_some(),
                    to == 0,
                    "a value that is the last one is missing"
                );
            }
        }
    }
}

#[tokio::test]
async fn all_items_arrive_before_a_reduced_result() {
    let (server, _) = source();
    for revision in Revision::ALL {
        let streams = StreamsClient::new(&client(&server, revision).await);
        let frames: Vec<_> = (1..=5).map(frame).collect();
        let words: Vec<_> = (1..=5).map(word).collect();
        assert_eq!(all(streams.last_frame(5)).await.0, frames, "{revision}");
        assert_eq!(all(streams.last_word(5)).await.0, words, "{revision}");
        assert_eq!(all(streams.words(5)).await.0, words, "{revision}");
        assert_eq!(all(streams.blocks_joined(5)).await.0.len(), 5, "{revision}");
        assert_eq!(all(streams.ticks(5)).await.0.len(), 5, "{revision}");
    }
}

#[tokio::test]
async fn a_failure_follows_the_preceding_items() {
    let (server, _) = source();
    for revision in Revision::ALL {
        for (streams, queued) in clients(&server, revision).await {
            let at = format!("{revision}, {queued}");
            let failed = |end: Option<ClientError>| match end {
                Some(ClientError::Tool(result)) => {
                    let last = result.content.last().and_then(|block| block.as_text());
                    assert_eq!(last, Some("seven"), "{at}");
                }
                other => panic!("{at}: {other:?}"),
            };
            let frames: Vec<_> = (1..=6).map(frame).collect();
            let words: Vec<_> = (1..=6).map(word).collect();
            let (items, end) = all(streams.frames(9)).await;
            assert_eq!(items, frames, "{at}");
            failed(end);
            let (items, end) = all(streams.frame_lines(9)).await;
            assert_eq!(items, frames, "{at}");
            failed(end);
            let (items, end) = all(streams.words(9)).await;
            assert_eq!(items.concat(), words.concat(), "{at}");
            failed(end);
            let (items, end) = all(streams.blocks(9)).await;
            assert_eq!(items.len(), 6, "{at}");
            failed(end);
            let (items, end) = all(streams.last_frame(9)).await;
            assert_eq!(items.last(), frames.last(), "{at}");
            failed(end);
            let (items, end) = all(streams.last_word(9)).await;
            assert_eq!(items.last(), words.last(), "{at}");
            failed(end);
        }
    }
}

#[tokio::test]
async fn items_arrive_while_the_tool_runs() {
    for revision in Revision::ALL {
        let (server, permits) = source();
        let streams = StreamsClient::new(&client(&server, revision).await);
        let mut slow = streams.slow(3);
        for at in 1..=3 {
            permits.add_permits(1);
            assert_eq!(slow.next().await.unwrap().unwrap(), at, "{revision}");
        }
        assert!(slow.next().await.is_none());
    }
}

#[tokio::test]
async fn progress_of_the_function_leaves_no_gap() {
    let (server, _) = source();
    for revision in Revision::ALL {
        let streams = StreamsClient::new(&client(&server, revision).await);
        assert_eq!(
            all(streams.with_progress()).await.0,
            [1, 2, 3],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn dropping_a_stream_cancels_its_call() {
    for revision in Revision::ALL {
        let (server, permits) = source();
        let streams = StreamsClient::new(&client(&server, revision).await);
        let mut slow = streams.slow(9);
        permits.add_permits(1);
        slow.next().await.unwrap().unwrap();
        assert!(
            Arc::strong_count(&permits) > 2,
            "the tool has one while it runs"
        );
        drop(slow);
        let ended = async {
            while Arc::strong_count(&permits) > 2 {
                tokio::task::yield_now().await;
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(10), ended).await;
        assert!(ended.is_ok(), "{revision}: the tool runs on");
    }
}

/// Collects a stream of numbers whose server sends these items with their progress before this result.
async fn collect_numbers(
    reported: Vec<(f64, Value)>,
    result: Value,
) -> (Vec<u32>, Option<ClientError>) {
    all(streams_client(reported, result).await.slow(9)).await
}

/// Creates a client whose server sends these items with their progress before this result.
async fn streams_client(reported: Vec<(f64, Value)>, result: Value) -> StreamsClient {
    let (session, _) = scripted(move |message| {
        if message["method"] == "server/discover" {
            return discovered(message);
        }
        let meta = &message["params"]["_meta"];
        assert_eq!(meta["dev.treenail/items"], true);
        let mut lines: Vec<_> = reported
            .iter()
            .map(|(progress, item)| {
                let params = json!({
                    "progressToken": meta["progressToken"], "progress": progress,
                    "_meta": {"dev.treenail/item": item},
                });
                let method = "notifications/progress";
                json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
            })
            .collect();
        lines.push(crate::script::answer(message, &result));
        Reply::Lines(lines)
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    StreamsClient::new(&client)
}

fn collected(items: &[u32]) -> Value {
    json!({"resultType": "complete", "content": [], "structuredContent": items})
}

#[tokio::test]
async fn a_server_may_report_some_items_or_none() {
    let one = |progress: u32| (f64::from(progress), json!(progress));
    for (items, case) in [
        (vec![], "a server without item notifications"),
        (
            vec![one(1), one(2), one(3)],
            "a server with item notifications",
        ),
        (vec![one(1), one(3)], "one item is lost"),
        (vec![one(2), one(3)], "the first one is lost"),
        (vec![one(1), one(1), one(2)], "one item is reported twice"),
    ] {
        let (items, end) = collect_numbers(items, collected(&[1, 2, 3])).await;
        assert_eq!((items, end.is_none()), (vec![1, 2, 3], true), "{case}");
    }
    let text = json!({"resultType": "complete", "content": [{"type": "text", "text": "[1,2]"}]});
    assert_eq!(
        collect_numbers(vec![one(1)], text).await.0,
        [1, 2],
        "without structured content"
    );
}

#[tokio::test]
async fn an_invalid_item_ends_the_stream() {
    let (items, end) =
        collect_numbers(vec![(1.0, json!(1)), (2.0, json!("two"))], collected(&[1])).await;
    assert_eq!(items, [1]);
    assert!(matches!(end, Some(ClientError::Output(_))), "{end:?}");
    let (items, end) =
        collect_numbers(vec![(1.0, json!(1)), (2.0, json!(2))], collected(&[1])).await;
    assert_eq!(items, [1, 2]);
    assert!(
        matches!(end, Some(ClientError::Protocol(_))),
        "fewer than were reported: {end:?}"
    );
    let other = json!({"resultType": "complete", "content": [], "structuredContent": {}});
    let (items, end) = collect_numbers(vec![], other).await;
    assert!(
        items.is_empty() && matches!(end, Some(ClientError::Protocol(_))),
        "{end:?}"
    );
}

fn texts(texts: &[&str]) -> Value {
    let block = |text: &&str| json!({"type": "text", "text": text});
    let blocks: Vec<_> = texts.iter().map(block).collect();
    json!({"resultType": "complete", "content": blocks})
}

#[tokio::test]
async fn all_texts_are_read_without_reported_items() {
    let streams = streams_client(vec![], texts(&["a", "b"])).await;
    assert_eq!(all(streams.words(2)).await.0.concat(), "a\nb");
    assert_eq!(all(streams.last_word(2)).await.0, ["a\nb"]);
    let lines = [r#"{"minute": 1}"#, "{\"minute\": 2}\n{\"minute\": 3}"];
    let streams = streams_client(vec![], texts(&lines)).await;
    let (items, end) = all(streams.frame_lines(3)).await;
    assert_eq!((items, end.is_none()), ((1..=3).map(frame).collect(), true));
    let list = texts(&[r#"["a","#, r#""b"]"#]);
    let (items, _) = all(streams_client(vec![], list).await.word_list(2)).await;
    assert_eq!(items, ["a", "b"]);
}

#[tokio::test]
async fn a_result_with_fewer_items_than_reported_is_an_error() {
    let words = || vec![(1.0, json!("one ")), (2.0, json!("two"))];
    let whole = streams_client(words(), texts(&["one two three"])).await;
    let (items, end) = all(whole.words(3)).await;
    assert_eq!(
        (items.concat(), end.is_none()),
        ("one two three".to_owned(), true)
    );
    for result in [texts(&["one"]), texts(&[])] {
        let (items, end) = all(streams_client(words(), result).await.words(3)).await;
        assert_eq!(items, ["one ", "two"]);
        assert!(matches!(end, Some(ClientError::Protocol(_))), "{end:?}");
    }
    let block = |text: &str| json!({"type": "text", "text": text, "_meta": {}});
    let blocks = vec![(1.0, block("one")), (2.0, block("two"))];
    let (items, end) = all(streams_client(blocks, texts(&["one"]))
        .await
        .blocks_joined(3))
    .await;
    assert_eq!(items.len(), 2);
    assert!(matches!(end, Some(ClientError::Protocol(_))), "{end:?}");
    let mut failed = texts(&["no"]);
    failed["isError"] = json!(true);
    let (items, end) = all(streams_client(words(), failed).await.words(3)).await;
    assert_eq!(items.len(), 2, "a failure that keeps nothing");
    assert!(matches!(end, Some(ClientError::Tool(_))), "{end:?}");
}
