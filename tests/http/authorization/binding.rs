//! State of one caller, which no other caller can use.

use serde_json::{Value, json};
use treenail::schema::Revision;

use super::{Guarded, ISSUER, OTHER_ISSUER, tool, with_token};
use crate::client::Post;

#[tokio::test]
async fn functions_do_not_see_credentials() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let post = tool("request")
        .with("proxy-authorization", "Basic c2VjcmV0")
        .with("dpop", "secret-proof")
        .with("x-other", "visible");
    let response = guarded.send(post, &token).await;
    let text = response.json()["result"]["content"][0]["text"].to_string();
    for secret in [&token, "authorization", "c2VjcmV0", "secret-proof"] {
        assert!(!text.contains(secret), "AUTH-R-46 AUTH-X-31: {text}");
    }
    assert!(text.contains("visible"), "{text}");
}

#[tokio::test]
async fn sessions_of_others_are_unknown() {
    let guarded = Guarded::new();
    let alice = guarded.token("files:read");
    let strangers = [
        guarded.token_of(ISSUER, "bob", "files:read"),
        guarded.token_of(OTHER_ISSUER, "alice", "files:read"),
    ];
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": Revision::LATEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let response = guarded
        .send(Post::raw(initialize.to_string()), &alice)
        .await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let ping = || Post::raw(ping.to_string()).with("mcp-session-id", &session);
    let get = || {
        ping()
            .method("GET")
            .with("accept", "text/event-stream")
            .with("last-event-id", "1-0")
    };
    let unknown = ping().with("mcp-session-id", "unknown");
    let unknown = guarded.send(unknown, &alice).await;
    for stranger in &strangers {
        for post in [ping(), get(), get().method("DELETE")] {
            let response = guarded.send(post, stranger).await;
            assert_eq!(response.status, 404, "AUTH-R-50 AUTH-X-28: {response:?}");
            assert_eq!(response.body, unknown.body, "AUTH-R-50");
        }
    }
    let renewed = guarded.token("files:read files:write");
    assert_eq!(
        guarded.send(ping(), &renewed).await.status,
        200,
        "another token of the same user"
    );
}

#[tokio::test]
async fn request_states_of_others_are_refused() {
    let guarded = Guarded::new();
    let alice = guarded.token("");
    let ask = |state: Option<Value>| {
        let mut params = json!({"name": "files.ask", "arguments": {}});
        if let Some(result) = state {
            let key = result["inputRequests"]
                .as_object()
                .unwrap()
                .keys()
                .next()
                .unwrap()
                .clone();
            let answer = json!({"action": "accept", "content": {"confirmed": true}});
            params["inputResponses"] = json!({ key: answer });
            params["requestState"] = result["requestState"].clone();
        }
        Post::modern_as("tools/call", params, &json!({"elicitation": {}}))
    };
    let response = guarded.send(ask(None), &alice).await;
    let asked = response.json()["result"].clone();
    assert!(asked["requestState"].is_string(), "{response:?}");
    for stranger in [(ISSUER, "bob"), (OTHER_ISSUER, "alice")] {
        let token = guarded.token_of(stranger.0, stranger.1, "");
        let response = guarded.send(ask(Some(asked.clone())), &token).await;
        assert!(
            !response.body.contains("sure"),
            "AUTH-R-50 AUTH-X-28: {response:?}"
        );
        assert!(
            response.json()["error"].is_object(),
            "AUTH-R-50: {response:?}"
        );
    }
    let response = guarded
        .send(ask(Some(asked)), &guarded.token("files:read"))
        .await;
    assert!(response.body.contains("sure, alice"), "{response:?}");
}

#[tokio::test]
async fn a_principal_of_a_layer_is_replaced() {
    let guarded = Guarded::new();
    let post = with_token(tool("read"), &guarded.token("files:read"));
    let mallory = treenail::context::Principal::new("mallory");
    let response = post.send_as(&guarded.service, mallory).await;
    assert!(
        response.body.contains("https://id.example.com alice"),
        "{response:?}"
    );
    assert!(!response.body.contains("mallory"), "{response:?}");
}
