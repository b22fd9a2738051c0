//! Scopes that a function requires while it runs.

use serde_json::{Value, json};
use treenail::schema::Revision;

use super::{Guarded, METADATA, expect_forbidden, tool};
use crate::client::Post;

fn write(arguments: Value) -> Post {
    Post::tool("files.write", arguments)
}

#[tokio::test]
async fn a_missing_scope_is_a_challenge() {
    let guarded = Guarded::new();
    let admin = || write(json!({"scope": "files:admin"}));
    let response = guarded.send_with(admin(), "files:write").await;
    expect_forbidden(&response, "files:admin files:write", "AUTH-R-15 AUTH-R-16");
    let response = guarded.send_with(tool("rename"), "files").await;
    expect_forbidden(
        &response,
        "files:admin files:read files:write",
        "AUTH-R-16: a synchronous function",
    );
    let response = guarded.send_with(admin(), "files:write files:admin").await;
    assert_eq!(response.status, 200, "{response:?}");
}

#[tokio::test]
async fn a_function_can_do_without_the_scope() {
    let guarded = Guarded::new();
    let post = write(json!({"scope": "files:admin", "recovers": true}));
    let response = guarded.send_with(post, "files:write").await;
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.json()["result"]["content"][0]["text"], "written");
}

#[tokio::test]
async fn a_malformed_scope_is_no_challenge() {
    let guarded = Guarded::new();
    let post = write(json!({"scope": "a\" b"}));
    let response = guarded.send_with(post, "files:write").await;
    assert_eq!(response.status, 200, "AUTH-R-23: {response:?}");
    assert_eq!(
        response.json()["error"]["code"],
        -32603,
        "AUTH-R-23: {response:?}"
    );
}

#[tokio::test]
async fn after_the_start_of_a_stream_the_error_has_the_same_data() {
    let guarded = Guarded::new();
    let post = write(json!({"scope": "files:admin", "reports": true}));
    let post = post.change(|body| body["params"]["_meta"]["progressToken"] = 1.into());
    let response = guarded.send_with(post, "files:write").await;
    assert_eq!(response.status, 200, "{response:?}");
    let events = response.events();
    let data = json!({
        "error": "insufficient_scope",
        "scope": "files:admin files:write",
        "resource_metadata": METADATA,
    });
    let error = &events.last().unwrap()["error"];
    assert_eq!(error["data"], data, "AUTH-R-17");
    assert_eq!(error["code"], 403, "ALL-ERR-05, ALL-ERR-08: {error}");
}

#[tokio::test]
async fn calls_in_sessions_are_challenged_too() {
    for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
        let guarded = Guarded::new();
        let token = guarded.token("files:write");
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": revision.as_str(),
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let response = guarded
            .send(Post::raw(initialize.to_string()), &token)
            .await;
        let session = response.header("mcp-session-id").unwrap().to_owned();
        let post = |body: Value| Post::raw(body.to_string()).with("mcp-session-id", &session);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        guarded
            .send(post(initialized), &token)
            .await
            .expect_accepted("SRV-LHTTP-02");
        let call = |name: &str, arguments: Value| {
            let params = json!({"name": name, "arguments": arguments});
            post(
                json!({"jsonrpc": "2.0", "id": "a\",\"error\":", "method": "tools/call", "params": params}),
            )
        };
        let response = guarded.send(call("files.audit", json!({})), &token).await;
        expect_forbidden(&response, "files:audit", "AUTH-R-14");
        let response = guarded
            .send(call("files.write", json!({"scope": "files:admin"})), &token)
            .await;
        expect_forbidden(&response, "files:admin files:write", "AUTH-R-16");
        let read = json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": "file:///x"}});
        let response = guarded.send(post(read), &token).await;
        expect_forbidden(&response, "files:read", "AUTH-R-53");
        let response = guarded.send(call("files.write", json!({})), &token).await;
        assert_eq!(response.status, 200, "{response:?}");
        assert!(response.body.contains("written"), "{response:?}");
    }
}
