//! Results: their validation against the listed schema, within a limit of time and size.

use std::future::{Future, IntoFuture};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, McpClientBuilder};
use treenail::prelude::*;
use treenail::schema::ElicitResult;

use super::{client_of, outcome, tool_with};
use crate::script::{Reply, scripted, scripted_with_limits};

#[tokio::test]
async fn cli_tool_04_results_must_match_the_output_schema() {
    let schema = json!({
        "type": "object", "required": ["days"],
        "properties": {"days": {"type": "array", "items": {
            "type": "object", "properties": {"high": {"type": "number", "maximum": 60}},
        }}},
    });
    let matches = json!({"days": [{"high": 12}, {}], "more": 1});
    outcome(&schema, &matches).await.unwrap();
    let secret = "x".repeat(500);
    let cases = [
        (
            json!({"days": [{"high": 1}, {"high": secret}]}),
            "at `/days/1/high`",
        ),
        (json!({"days": [{"high": 99}]}), "at `/days/0/high`"),
        (json!({"other": 1}), "\"days\" is a required property"),
        (json!([]), "object"),
        (Value::Null, "object"),
    ];
    for (content, words) in cases {
        let error = outcome(&schema, &content).await.unwrap_err();
        assert!(
            error.contains("tool `t`") && error.contains(words),
            "{error}"
        );
        assert!(!error.contains("xxx"), "the value is not repeated: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_is_validated_after_the_time_of_the_user() {
    let mut asks = true;
    // More rows than are validated inline.
    let schema = json!({"properties": {"rows": {"items": {"type": "integer"}}}});
    let mut reply = tool_with(schema, json!({"rows": vec![1; 20_000]}));
    let required = json!({"resultType": "input_required", "inputRequests": {"a": {
        "method": "elicitation/create",
        "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}}});
    let (session, _) = scripted_with_limits(&ClientLimits::default(), move |message| {
        let is_call = message["method"] == "tools/call";
        if is_call && std::mem::take(&mut asks) {
            return Reply::result(message, &required);
        }
        reply(message)
    });
    let builder = McpClient::builder().session(session);
    let builder = builder.on_elicit(async |_| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        ElicitResult::accept(())
    });
    let client = builder.build().await.unwrap();
    client.tools().await.unwrap();
    let call = client.call_tool("t", ()).timeout(Duration::from_secs(2));
    call.await.unwrap();
}

#[tokio::test]
async fn only_a_failure_may_lack_structured_content() {
    let results = [
        (json!({"content": []}), false),
        (json!({"content": [], "isError": true}), true),
        (
            json!({"content": [], "isError": true, "structuredContent": 7}),
            true,
        ),
        (json!({"content": [], "structuredContent": {}}), true),
    ];
    for (mut result, matches) in results {
        result["resultType"] = json!("complete");
        let returned = result.clone();
        let mut list = tool_with(json!({"type": "object"}), json!({}));
        let reply = move |message: &Value| match message["method"].as_str() {
            Some("tools/call") => Reply::result(message, &returned),
            _ => list(message),
        };
        let (client, _) = client_of(reply, ClientLimits::default()).await;
        let called = client.call_tool("t", ()).await;
        assert_eq!(called.is_ok(), matches, "CLI-TOOL-04: {result}");
    }
}

#[tokio::test]
async fn only_listed_tools_are_validated() {
    let reply = tool_with(json!({"type": "object"}), json!([]));
    let (session, received) = scripted(reply);
    let client = McpClient::builder().session(session).build().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
    assert!(
        !received.methods().contains(&"tools/list".to_owned()),
        "nothing is fetched for it"
    );
    client.tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap_err();
    client.call_tool("other", ()).await.unwrap();
}

#[tokio::test]
async fn validation_can_be_disabled() {
    let (session, _) = scripted(tool_with(json!({"$ref": "https://a.example"}), json!([])));
    let builder: McpClientBuilder = McpClient::builder().session(session);
    let client = builder.validate_results(false).build().await.unwrap();
    client.tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
}

#[tokio::test]
async fn the_latest_listed_schema_is_used() {
    let schema = Arc::new(Mutex::new(json!({"type": "array"})));
    let listed = Arc::clone(&schema);
    let reply = move |message: &Value| {
        let schema = listed.lock().unwrap().clone();
        tool_with(schema, json!([]))(message)
    };
    let (client, _) = client_of(reply, ClientLimits::default()).await;
    client.call_tool("t", ()).await.unwrap();
    *schema.lock().unwrap() = json!({"type": "object"});
    client.call_tool("t", ()).await.unwrap();
    client.refresh_tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap_err();
}

#[test]
fn a_schema_of_an_earlier_list_is_not_cached() {
    // Schemas are compiled on the only thread for blocking work.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.max_blocking_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let key = Arc::new(Mutex::new("one"));
        let current = Arc::clone(&key);
        let reply = move |message: &Value| {
            let key = *current.lock().unwrap();
            if message["method"] != "tools/list" {
                return tool_with(json!({}), json!({key: "x"}))(message);
            }
            let schema = json!({"type": "object", "required": [key], "allOf": [{"type": "object"}],
                "properties": {key: {"type": "string", "pattern": "^[a-z]+$"}}});
            let tools = json!([
                {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": schema},
                {"name": "b", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
            ]);
            let result = json!({"resultType": "complete", "tools": tools, "ttlMs": 3_600_000});
            Reply::result(message, &result)
        };
        let (client, _) = client_of(reply, ClientLimits::default()).await;
        let (release, released) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || released.recv());
        let mut first = std::pin::pin!(client.call_tool("a", ()).into_future());
        let polled = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context)));
        assert!(polled.await.is_pending(), "the schema is being compiled");
        *key.lock().unwrap() = "two";
        client.refresh_tools().await.unwrap();
        client.call_tool("b", ()).await.unwrap();
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        // Its result matches the list of before the call.
        *key.lock().unwrap() = "one";
        first.await.unwrap();
        *key.lock().unwrap() = "two";
        client.call_tool("a", ()).await.unwrap();
    });
}

#[tokio::test]
async fn a_result_is_not_refused_because_of_an_outdated_list() {
    for ttl in [0, 60_000] {
        let mut schema = json!({"type": "object"});
        let reply = move |message: &Value| {
            if message["method"] != "tools/list" {
                return tool_with(json!({}), json!([]))(message);
            }
            let schema = std::mem::replace(&mut schema, json!({"type": "array"}));
            let tool = json!({
                "name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema,
            });
            let result = json!({"resultType": "complete", "tools": [tool], "ttlMs": ttl});
            Reply::result(message, &result)
        };
        let (client, received) = client_of(reply, ClientLimits::default()).await;
        let called = client.call_tool("t", ()).await;
        assert_eq!(called.is_ok(), ttl == 0, "{called:?}");
        client.call_tool("t", ()).await.ok();
        let methods = received.methods();
        let lists = methods.iter().filter(|method| *method == "tools/list");
        assert_eq!(lists.count(), if ttl == 0 { 2 } else { 1 });
    }
}

#[tokio::test]
async fn an_oversized_result_is_not_validated() {
    let content = json!({"text": "x".repeat(5 << 20)});
    let error = outcome(&json!({"type": "object"}), &content)
        .await
        .unwrap_err();
    assert!(error.contains("bytes"), "{error}");
}

/// A schema and a value whose validation takes long, but is within the limits.
fn slow_validation() -> (Value, Value) {
    let schema = json!({"allOf": vec![json!({"items": {"type": "integer", "minimum": 0}}); 10]});
    (schema, json!((0..80_000).collect::<Vec<u32>>()))
}

#[tokio::test]
async fn a_long_validation_does_not_block_other_tasks() {
    let (schema, content) = slow_validation();
    let (client, received) = client_of(tool_with(schema, content), ClientLimits::default()).await;
    let turns = Arc::new(Mutex::new(0_u32));
    let (ticks, ticking) = (Arc::clone(&turns), received.clone());
    tokio::spawn(async move {
        loop {
            if ticking.methods().contains(&"tools/call".to_owned()) {
                *ticks.lock().unwrap() += 1;
            }
            tokio::task::yield_now().await;
        }
    });
    client.call_tool("t", ()).await.unwrap();
    let while_validated = *turns.lock().unwrap();
    // Reading the response yields several times, too.
    assert!(while_validated > 300, "{while_validated} turns");
}

#[tokio::test(start_paused = true)]
async fn a_validation_is_limited_by_the_request_timeout() {
    let (schema, content) = slow_validation();
    let (client, received) = client_of(tool_with(schema, content), ClientLimits::default()).await;
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("t", ()).await }
    });
    while !received.methods().contains(&"tools/call".to_owned()) {
        tokio::task::yield_now().await;
    }
    // Reading the response takes a few polls, and the validation takes many more.
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(61)).await;
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
}
