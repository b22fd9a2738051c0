//! Metadata of requests.

use serde_json::json;
use treenail::prelude::*;

use crate::script::{Reply, discovered, scripted};

#[tokio::test]
async fn each_modern_request_identifies_the_client() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(message, &json!({"resultType": "complete", "tools": []})),
    });
    let builder = McpClientSession::builder().client_info("tester", "7");
    let session = builder.session(session).build().await.unwrap();
    let request = session
        .tools_list(Some(""))
        .meta("com.example/trace", "a\"b");
    request.await.unwrap();
    for message in received.all() {
        let meta = &message["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28",
            "CLI-META-01"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({}),
            "CLI-META-02"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"], "tester",
            "CLI-META-03"
        );
    }
    let listed = &received.all()[1]["params"];
    assert_eq!(listed["cursor"], "", "CLI-PAGE-03");
    assert_eq!(listed["_meta"]["com.example/trace"], "a\"b");
}
