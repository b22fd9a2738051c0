//! Results of functions in bodies and events.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;

use crate::client::Post;

/// Foreign JSON with both kinds of line ends, a tab, and an embedded event.
const UPSTREAM: &str = "{\n\t\"a\": \"x\\ny\",\r\n\n \"data: {}\" :\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n}";

#[mcp_type]
struct Report {
    #[schemars(with = "Value")]
    body: Box<RawValue>,
}

fn report() -> Report {
    let body = RawValue::from_string(UPSTREAM.to_owned()).unwrap();
    Report { body }
}

#[mcp_tool]
fn relay() -> Report {
    report()
}

#[mcp_tool]
async fn relay_told(cx: &Context) -> Report {
    cx.progress(1).await;
    tokio::task::yield_now().await;
    report()
}

#[mcp_tool]
fn relay_each() -> impl Stream<Item = Report> {
    tokio_stream::iter([report(), report()])
}

fn service() -> HttpService {
    let builder = Server::builder("relay", "1.0.0");
    let server = builder.tools(tools![relay, relay_told, relay_each]);
    http_service(server.build().unwrap())
}

fn expected() -> Value {
    json!({"body": serde_json::from_str::<Value>(UPSTREAM).unwrap()})
}

#[tokio::test]
async fn raw_json_does_not_break_a_body() {
    let response = Post::tool("relay", json!({})).send(&service()).await;
    let result = &response.json()["result"];
    assert_eq!(result["structuredContent"], expected());
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected());
}

#[tokio::test]
async fn raw_json_does_not_break_events() {
    let meta = json!({"progressToken": 1, "dev.treenail/items": true});
    for (tool, messages) in [("relay_told", 2), ("relay_each", 3)] {
        let post = Post::tool(tool, json!({}));
        let post = post.change(|body| {
            for (key, value) in meta.as_object().unwrap() {
                body["params"]["_meta"][key] = value.clone();
            }
        });
        let response = post.send(&service()).await;
        let events: Vec<&str> = response.body.split_terminator("\n\n").collect();
        assert_eq!(events.len(), messages, "{tool}: {response:?}");
        let events: Vec<Value> = events
            .iter()
            .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
            .collect();
        let found = events[messages - 1]["result"]["structuredContent"].clone();
        match tool {
            "relay_each" => assert_eq!(found, json!([expected(), expected()])),
            _ => assert_eq!(found, expected()),
        }
    }
}
