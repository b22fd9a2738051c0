//! Descriptors of features that are made at run time, and the validation of their arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use treenail::dynamic::{Feature, Prompt, RawResult, Resource, ResourceTemplate, Tool};
use treenail::limits::ValidationLimits;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::made::get;
use crate::support::peer::{MODERN, Peer, text};

/// A place that is found.
#[mcp_type]
struct Found {
    name: String,
    near: Option<f64>,
}

/// Finds places.
#[mcp_tool(name = "place.find", title = "Find", read_only, open_world = false)]
async fn find(
    /// A part of the name
    #[arg(length = 1..=9)]
    name: String,
    #[arg(default = 3, range = 1..=10)] most: u8,
) -> Vec<Found> {
    let found = |_| Found {
        name: name.clone(),
        near: None,
    };
    (0..most).map(found).collect()
}

/// Makes the same tool from literals.
fn find_at_run_time() -> Feature {
    Tool::new("place.find")
        .title("Find")
        .description("Finds places.")
        .read_only(true)
        .open_world(false)
        .input(json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "A part of the name", "minLength": 1, "maxLength": 9},
                "most": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
            },
            "required": ["name"],
            "additionalProperties": false,
        }))
        .handler(|_, it| async move {
            find(get(&it, "name"), get::<Option<u8>>(&it, "most").unwrap_or(3)).await
        })
}

/// Servers with the tool of each kind.
fn both() -> [Server; 2] {
    let builder = || treenail::server!();
    let made = builder().tools(tools![find]).build().unwrap();
    [made, builder().add(find_at_run_time()).build().unwrap()]
}

#[tokio::test]
async fn both_kinds_answer_each_request_alike() {
    let call = |arguments: Value| json!({"name": "place.find", "arguments": arguments});
    let table = [
        ("tools/list", json!({})),
        ("tools/call", call(json!({"name": "Oslo"}))),
        ("tools/call", call(json!({"name": "Oslo", "most": 2}))),
        ("tools/call", call(json!({"name": "Oslo", "most": null}))),
        ("tools/call", call(json!({}))),
        ("tools/call", call(json!({"name": ""}))),
        (
            "tools/call",
            call(json!({"name": "1234567890", "most": 11})),
        ),
        ("tools/call", call(json!({"name": 7, "most": "x"}))),
        ("tools/call", call(json!({"nmae": "Oslo"}))),
        ("tools/call", call(json!(["Oslo"]))),
        ("tools/call", json!({"name": "place.fnd"})),
        (
            "tools/call",
            json!({"name": "place_find", "arguments": {"name": "Oslo"}}),
        ),
    ];
    for revision in Revision::ALL {
        let [made, run_time] = both();
        let mut made = Peer::connect(&made, revision).await;
        let mut run_time = Peer::connect(&run_time, revision).await;
        for (method, params) in &table {
            let expected = made.request(method, params.clone()).await;
            let found = run_time.request(method, params.clone()).await;
            assert_eq!(found, expected, "{method} {params} in {revision}");
        }
    }
}

#[tokio::test]
async fn both_kinds_have_the_same_contract() {
    let [made, run_time] = both();
    let mut contracts = Vec::new();
    for server in [made, run_time] {
        let client = McpClient::builder().server(&server).build().await.unwrap();
        contracts.push(client.contract().await.unwrap());
    }
    assert_eq!(contracts[0], contracts[1]);
}

#[tokio::test]
async fn any_schema_is_validated_and_its_cost_is_bounded() {
    let schema = json!({
        "type": "object",
        "properties": {
            "at": {"oneOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "array", "items": {"type": "integer"}}]},
            "text": {"type": "string", "pattern": "^(a+)+$"},
        },
        "minProperties": 1,
        "dependentRequired": {"text": ["at"]},
    });
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let tool = Tool::new("any")
        .input(schema)
        .validation(ValidationLimits::default().steps(10_000))
        .handler(move |_, it| {
            counter.fetch_add(1, Ordering::SeqCst);
            async move { it.into_text() }
        });
    let server = treenail::server!().add(tool).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for good in [
        json!({"at": "abc"}),
        json!({"at": [1, 2]}),
        json!({"x": null}),
    ] {
        let result = peer.call("any", good.clone()).await;
        assert_eq!(text(&result), good.to_string());
    }
    let long = "a".repeat(10_000) + "!";
    for (bad, problem) in [
        (json!({}), "the arguments: "),
        (json!({"at": 7}), "- /at: "),
        (
            json!({"at": ["x"]}),
            "- /at/0: expected an integer, got the string \"x\"",
        ),
        (json!({"text": "aa"}), "at"),
        (json!({"text": long, "at": "a"}), "- "),
        (
            json!({"at": vec![1; 50_000]}),
            "the arguments: they cannot be validated",
        ),
    ] {
        let result = peer.call("any", bad.clone()).await;
        assert_eq!(result["isError"], true);
        let text = text(&result);
        assert!(
            text.starts_with("Wrong arguments for the tool `any`:\n- "),
            "{text}"
        );
        assert!(text.contains(problem), "{text}");
        assert!(
            text.ends_with("\nCorrect them and call the tool again."),
            "{text}"
        );
    }
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn repeated_arguments_are_rejected() {
    let [_, server] = both();
    let mut peer = Peer::connect(&server, MODERN).await;
    let message = peer.message(
        &json!(1),
        "tools/call",
        json!({"name": "place.find", "arguments": {}}),
    );
    let twice = message.to_string().replace(
        "\"arguments\":{}",
        "\"arguments\":{\"name\":\"a\",\"name\":\"b\"}",
    );
    peer.send_line(&twice).await;
    let answer = peer.receive("tools/call").await;
    assert!(text(&answer["result"]).contains("- /name: given twice; give it once"));
}

#[tokio::test]
async fn raw_prompts_resources_and_completions_are_adapted() {
    let raw = |value: Value| {
        let result = RawResult::new(&value);
        async move { result.map_err(|_| RpcError::internal("not written")) }
    };
    let link = json!({"type": "resource_link", "uri": "a://b", "name": "b"});
    let prompt = Prompt::new("p")
        .description("described")
        .complete_raw(move |_, params| {
            let value = params.value()["argument"]["value"].clone();
            raw(json!({"completion": {"values": [value], "other": 1.5}}))
        })
        .raw(move |_, _| {
            raw(json!({"messages": [{"role": "user", "content": link}], "resultType": "complete"}))
        });
    let resource = Resource::new("a://r", "r").raw(move |_, request| {
        let contents = json!([{"uri": request.uri(), "text": "t"}]);
        raw(json!({"contents": contents, "ttlMs": 7, "cacheScope": "public"}))
    });
    let template = ResourceTemplate::new("a://t{?any*}", "t")
        .accepts(|uri| uri.starts_with("a://t"))
        .raw(move |_, request| raw(json!({"contents": [{"uri": request.uri(), "text": "t"}]})));
    let wrong = Prompt::new("wrong").raw(move |_, _| raw(json!({"mesages": []})));
    let server = treenail::server!().add([prompt, resource, template, wrong]);
    let server = server.build().unwrap();
    for revision in Revision::ALL {
        let modern = revision.is_modern();
        let mut peer = Peer::connect(&server, revision).await;
        let result = peer.prompt("p", json!({"unchecked": "x"})).await;
        assert_eq!(result["description"], "described");
        let kind = if revision < Revision::V2025_06_18 {
            "text"
        } else {
            "resource_link"
        };
        assert_eq!(result["messages"][0]["content"]["type"], kind);
        for uri in ["a://r", "a://t?x=1"] {
            let result = peer.read(uri).await;
            assert_eq!(result["contents"], json!([{"uri": uri, "text": "t"}]));
            let ttl = if uri == "a://r" { 7 } else { 0 };
            assert_eq!(result.get("ttlMs"), modern.then(|| json!(ttl)).as_ref());
        }
        let reference = json!({"type": "ref/prompt", "name": "p"});
        let argument = json!({"name": "never declared", "value": "v"});
        let params = json!({"ref": reference, "argument": argument});
        let answer = peer.request("completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["v"]));
        let (code, message) = peer.refused("prompts/get", json!({"name": "wrong"})).await;
        let expected = "the result of the prompt `wrong` is not valid: it lacks `messages`";
        assert_eq!((code, &*message), (-32603, expected));
    }
}
