//! Arguments in headers, with a server whose tools have too many of them.

use serde_json::{Map, Value, json};
use treenail::McpClient;
use treenail::client::HttpClientBuilderExt as _;

use super::scripted_server::{Received, Response, ScriptedServer};

/// Input schema with this number of strings, each repeated in a header.
fn strings(count: usize) -> Value {
    let string = |at| json!({"type": "string", "x-mcp-header": format!("a{at}")});
    let properties: Map<_, _> = (0..count)
        .map(|at| (format!("a{at}"), string(at)))
        .collect();
    json!({"type": "object", "properties": properties})
}

fn answer(received: &Received) -> Response {
    let result = match received.rpc() {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
            "serverInfo": {"name": "server", "version": "1"}, "capabilities": {"tools": {}},
        }),
        "tools/list" => json!({
            "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private", "tools": [
                {"name": "few", "inputSchema": strings(64)},
                {"name": "many", "inputSchema": strings(65)},
                {"name": "long", "inputSchema": {
                    "type": "object", "properties": {"n".repeat(1 << 18): strings(1)},
                }},
            ],
        }),
        _ => json!({"resultType": "complete", "content": []}),
    };
    Response::result(received, &result)
}

#[tokio::test]
async fn tools_with_too_many_header_arguments_are_omitted() {
    let mut server = ScriptedServer::new(answer).await;
    let builder = McpClient::builder().url(&server.url);
    let client = builder.subscribe_to_changes(false).build().await.unwrap();
    let tools = client.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["few"]);
    let arguments: Map<_, _> = (0..64).map(|at| (format!("a{at}"), json!("x"))).collect();
    client.call_tool("few", arguments).await.unwrap();
    let mut call = server.next_request().await;
    while call.rpc() != "tools/call" {
        call = server.next_request().await;
    }
    assert_eq!(call.header("mcp-param-a63"), Some("x"));
}

/// Response of a server with these tools.
fn answer_with_tools(received: &Received, tools: &Value) -> Response {
    match received.rpc() {
        "tools/list" => {
            let result = json!({"resultType": "complete", "ttlMs": 60_000, "tools": tools});
            Response::result(received, &result)
        }
        _ => answer(received),
    }
}

fn tool(name: &str, properties: &Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

#[tokio::test]
async fn only_tools_with_invalid_annotations_are_omitted() {
    let marked = |kind: &str, header: &str| json!({"type": kind, "x-mcp-header": header});
    let invalid = [
        json!({"a": marked("string", "")}),
        json!({"a": marked("string", "a b")}),
        json!({"a": marked("string", "a:b")}),
        json!({"a": marked("string", "Same"), "b": marked("string", "same")}),
        json!({"a": marked("object", "A")}),
        json!({"a": {"type": "string", "x-mcp-header": 7}}),
    ];
    let mut tools: Vec<_> = invalid
        .iter()
        .map(|properties| tool("invalid", properties))
        .collect();
    tools.insert(0, tool("first", &json!({"a": marked("string", "A")})));
    tools.push(tool("last", &json!({"a": {"type": "string"}})));
    let tools = Value::from(tools);
    let server = ScriptedServer::new(move |received| answer_with_tools(received, &tools)).await;
    let builder = McpClient::builder().url(&server.url);
    let client = builder.subscribe_to_changes(false).build().await.unwrap();
    let tools = client.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["first", "last"], "CLI-HDR-08");
}

#[tokio::test]
async fn arguments_are_headers_in_their_plain_form() {
    let marked = |kind: &str, header: &str| json!({"type": kind, "x-mcp-header": header});
    let properties = json!({
        "text": marked("string", "Text"), "padded": marked("string", "Padded"),
        "number": marked("integer", "Number"), "flag": marked("boolean", "Flag"),
    });
    let tools = json!([tool("call", &properties)]);
    let mut server = ScriptedServer::new(move |received| answer_with_tools(received, &tools)).await;
    let builder = McpClient::builder().url(&server.url);
    let client = builder.subscribe_to_changes(false).build().await.unwrap();
    let arguments = json!({"text": "plain \"text\"", "padded": " Ø", "number": -20, "flag": false});
    client.call_tool("call", arguments).await.unwrap();
    let mut call = server.next_request().await;
    while call.rpc() != "tools/call" {
        call = server.next_request().await;
    }
    for (name, expected) in [
        ("mcp-param-text", "plain \"text\""),
        ("mcp-param-padded", "=?base64?IMOY?="),
        ("mcp-param-number", "-20"),
        ("mcp-param-flag", "false"),
    ] {
        assert_eq!(call.header(name), Some(expected), "CLI-HDR-11");
    }
}
