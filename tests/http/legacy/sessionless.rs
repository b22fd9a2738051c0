//! Services without sessions.

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::context::Principal;
use treenail::extension::{Extension, ExtensionMethod};
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::schema::{LoggingLevel, Revision};

use super::{SERVED, initialize};
use crate::client::{MODERN, Post};
use crate::fixture::{Desk, builder, builder_of};

fn service() -> HttpService {
    http_service(builder().build().unwrap()).without_sessions()
}

fn post(revision: Revision, message: &Value) -> Post {
    let post = Post::raw(message.to_string());
    if revision >= Revision::V2025_06_18 {
        return post.with("mcp-protocol-version", revision.as_str());
    }
    post
}

fn request(revision: Revision, method: &str, params: &Value) -> Post {
    post(
        revision,
        &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
    )
}

fn tool(revision: Revision, name: &str, arguments: &Value) -> Post {
    let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 7}});
    request(revision, "tools/call", &params)
}

#[tokio::test]
async fn each_replica_serves_each_request() {
    for revision in SERVED {
        let response = initialize(revision).send(&service()).await;
        assert_eq!(response.status, 200, "SRV-LHTTP-16: {response:?}");
        assert_eq!(response.header("mcp-session-id"), None, "SRV-LHTTP-16");
        assert_eq!(
            response.json()["result"]["protocolVersion"],
            revision.as_str()
        );
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let response = post(revision, &done).send(&service()).await;
        response.expect_accepted("SRV-LHTTP-02");
        let answer = json!({"jsonrpc": "2.0", "id": 3, "result": {}});
        let response = post(revision, &answer).send(&service()).await;
        response.expect_accepted("SRV-LHTTP-02");

        let response = tool(revision, "add", &json!({"a": 2, "b": 3}))
            .send(&service())
            .await;
        let result = &response.json()["result"];
        assert_eq!(result["content"][0]["text"], "5", "{result}");
        let is_structured = result["structuredContent"].is_object();
        assert_eq!(
            is_structured,
            revision >= Revision::V2025_06_18,
            "SRV-LHTTP-20: {result}"
        );
        let response = request(revision, "tools/list", &json!({}))
            .send(&service())
            .await;
        assert!(response.json()["result"]["tools"].is_array());
        let response = request(revision, "ping", &json!({})).send(&service()).await;
        assert_eq!(response.json()["result"], json!({}));
        let response = request(revision, "resources/read", &json!({"uri": "notes://7"}))
            .send(&service())
            .await;
        assert_eq!(response.json()["result"]["contents"][0]["text"], "note 7");
    }
}

#[tokio::test]
async fn messages_of_a_call_precede_its_result() {
    for revision in SERVED {
        let response = tool(revision, "count", &json!({"to": 2}))
            .send(&service())
            .await;
        let events = response.events();
        let steps: Vec<_> = events
            .iter()
            .map(|event| &event["params"]["progress"])
            .collect();
        assert_eq!(steps, [&json!(1), &json!(2), &Value::Null], "SRV-LHTTP-07");
        assert_eq!(
            events[2]["result"]["content"][0]["text"], "counted",
            "SRV-LHTTP-09"
        );
    }
}

#[tokio::test]
async fn what_needs_a_session_is_neither_declared_nor_served() {
    let server = builder().dynamic().build().unwrap();
    let service = http_service(server).without_sessions();
    let response = initialize(Revision::LATEST_LEGACY).send(&service).await;
    let capabilities = &response.json()["result"]["capabilities"];
    assert_eq!(
        capabilities,
        &json!({"prompts": {}, "resources": {}, "tools": {}}),
        "SRV-LIFE-03"
    );
    let methods = [
        ("logging/setLevel", json!({"level": "debug"})),
        ("resources/subscribe", json!({"uri": "notes://7"})),
        ("resources/unsubscribe", json!({"uri": "notes://7"})),
    ];
    for (method, params) in &methods {
        let response = request(Revision::LATEST_LEGACY, method, params)
            .send(&service)
            .await;
        assert_eq!(response.status, 200, "404 would end a session");
        assert_eq!(response.json()["error"]["code"], -32601, "{method}");
    }
    let response = tool(Revision::LATEST_LEGACY, "ask", &json!({}))
        .send(&service)
        .await;
    let result = &response.json()["result"];
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("needs a client with the capabilities"),
        "{text}"
    );
}

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
async fn logs(cx: &Context) -> String {
    cx.log(LoggingLevel::Error, "hot").await;
    "done".to_owned()
}

#[tokio::test]
async fn log_messages_are_neither_declared_nor_sent() {
    let server = treenail::server!().tools(tools![logs]).build().unwrap();
    let service = http_service(server).without_sessions();
    for revision in SERVED {
        let response = initialize(revision).send(&service).await;
        let capabilities = &response.json()["result"]["capabilities"];
        assert_eq!(*capabilities, json!({"tools": {}}), "SRV-LOG-02");
        let response = tool(revision, "logs", &json!({})).send(&service).await;
        let result = &response.json()["result"];
        assert_eq!(
            result["content"][0]["text"], "done",
            "SRV-LOG-02, ALL-LIFE-01: {revision}: {response:?}"
        );
    }
}

#[tokio::test]
async fn extensions_that_need_a_declaration_of_the_client_are_not_declared() {
    let service = |ids: &[&str]| {
        let mut server = treenail::server!();
        for id in ids {
            let method = ExtensionMethod::new(format!("{id}/get"), answer);
            let mut extension = Extension::new(format!("com.example/{id}"));
            if *id == "gated" {
                extension = extension.method("gated/set", answer);
            }
            server = server.extension(extension.add_method(method.ungated()));
        }
        http_service(server.build().unwrap()).without_sessions()
    };
    let open = json!({"extensions": {"com.example/open": {}}});
    for (ids, expected) in [(vec!["gated"], json!({})), (vec!["gated", "open"], open)] {
        let response = initialize(Revision::LATEST_LEGACY)
            .send(&service(&ids))
            .await;
        let capabilities = &response.json()["result"]["capabilities"];
        assert_eq!(*capabilities, expected, "ALL-LIFE-01: {ids:?}");
    }
    let response = request(Revision::LATEST_LEGACY, "open/get", &json!({}))
        .send(&service(&["open"]))
        .await;
    assert_eq!(response.json()["result"]["a"], 1, "{response:?}");
}

async fn answer(_: Context, _: Value) -> Result<Value, RpcError> {
    Ok(json!({"a": 1}))
}

#[tokio::test]
async fn methods_other_than_post_are_refused() {
    let service = service();
    for method in ["GET", "DELETE", "PUT"] {
        let response = Post::raw("")
            .method(method)
            .with("accept", "text/event-stream")
            .send(&service)
            .await;
        assert_eq!(response.status, 405, "SRV-LHTTP-11");
        assert_eq!(response.header("allow"), Some("POST"));
    }
}

#[tokio::test]
async fn sessions_of_another_server_are_unknown() {
    let service = service();
    let add = || tool(Revision::LATEST_LEGACY, "add", &json!({"a": 2, "b": 3}));
    let with_session = add().with("mcp-session-id", "earlier");
    assert_eq!(
        with_session.send(&service).await.status,
        404,
        "SRV-LHTTP-19"
    );
    for wrong in ["1999-01-01", "x"] {
        let post = add().with("mcp-protocol-version", wrong);
        assert_eq!(post.send(&service).await.status, 400, "SRV-LHTTP-21");
    }
}

#[tokio::test]
async fn batches_are_answered() {
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}},
        {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": "notes://7"}},
        {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 4, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/x"},
    ]);
    let service = service();
    let response = post(Revision::V2025_03_26, &batch).send(&service).await;
    let answers = response.json();
    let of = |id: i64| {
        let mut all = answers.as_array().unwrap().iter();
        all.find(|answer| answer["id"] == id).unwrap()
    };
    assert_eq!(of(1)["result"]["content"][0]["text"], "5", "SRV-BASE-07");
    assert_eq!(of(2)["error"]["code"], -32601);
    assert_eq!(of(3)["error"]["code"], -32600);
    assert_eq!(of(4)["result"], json!({}));
    let response = post(Revision::V2025_11_25, &batch).send(&service).await;
    assert_eq!(response.status, 400, "{response:?}");
}

#[tokio::test]
async fn a_closed_connection_cancels_its_call() {
    let desk = Desk::default();
    let server = builder_of(&desk).build().unwrap();
    let service = http_service(server).without_sessions();
    for revision in SERVED {
        let (service, post) = (service.clone(), tool(revision, "wait", &json!({})));
        let waiting = tokio::spawn(async move { post.send(&service).await });
        desk.begun.notified().await;
        waiting.abort();
        desk.ended.notified().await;
    }
}

#[tokio::test]
async fn calls_have_the_caller_and_the_headers_of_their_request() {
    let post = tool(Revision::LATEST_LEGACY, "whoami", &json!({})).with("user-agent", "test");
    let response = post.send_as(&service(), Principal::new("ada")).await;
    let result = &response.json()["result"];
    assert_eq!(
        result["content"][0]["text"], r#"Some("ada") Some("test")"#,
        "{result}"
    );
}

#[tokio::test]
async fn the_modern_era_is_the_same() {
    let post = Post::tool("add", json!({"a": 2, "b": 3}));
    let response = post.send(&service()).await;
    assert_eq!(
        response.json()["result"]["structuredContent"],
        5,
        "{MODERN}"
    );
}

#[tokio::test]
async fn our_client_needs_no_session() {
    let server = builder().build().unwrap();
    let http = http_service(server).without_sessions();
    let http = http.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    let serving = tokio::spawn(http.serve());
    for revision in SERVED {
        let client = McpClient::builder().url(&url).protocol_version(revision);
        let client = client.build().await.unwrap();
        let arguments = json!({"a": 2, "b": 3});
        let sum: i64 = client.call_tool_as("add", arguments).await.unwrap();
        assert_eq!(sum, 5);
    }
    serving.abort();
}
