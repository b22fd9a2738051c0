//! The example `protected`, with tokens of an authorization server.

use serde_json::{Value, json};
use treenail::auth::testing::TestAuthorizationServer;

use super::with_token;
use crate::client::Post;
use crate::protected::bind;
use crate::sockets::ask_at;

#[tokio::test]
async fn the_example_accepts_tokens_of_its_authorization_server() {
    let authorization_server = TestAuthorizationServer::builder().start().await.unwrap();
    let http = bind(&authorization_server.issuer(), "127.0.0.1:0")
        .await
        .unwrap();
    let address = http.local_addr();
    let serving = tokio::spawn(http.serve());
    let resource = format!("http://{address}/mcp");
    let token = |scopes: &str| {
        let token = authorization_server.token("alice").resource(&resource);
        token.scope(scopes).issue()
    };
    let call = |name: &str, arguments: Value, token: String| {
        let post = with_token(Post::tool(name, arguments), &token);
        async move { ask_at(address, &post, "/mcp").await }
    };
    let text = || json!({"text": "milk"});
    let for_everyone = || json!({"text": "milk", "for_everyone": true});

    let response = ask_at(address, &Post::tool("notes.list", json!({})), "/mcp").await;
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    let metadata = format!("http://{address}/.well-known/oauth-protected-resource/mcp");
    assert!(response.contains(&metadata), "AUTH-R-12: {response}");

    let response = call("notes.add", text(), token("notes:read")).await;
    assert!(response.starts_with("HTTP/1.1 403 "), "{response}");
    assert!(
        response.contains("scope=\"notes:write\""),
        "AUTH-R-14: {response}"
    );
    let response = call("notes.add", for_everyone(), token("notes:write")).await;
    assert!(
        response.contains("scope=\"notes:admin notes:write\""),
        "AUTH-R-16: {response}"
    );
    for scopes in ["notes:read notes:write", "notes:admin"] {
        let response = call("notes.add", text(), token(scopes)).await;
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    }
    let response = call("notes.list", json!({}), token("notes:read")).await;
    assert!(response.contains("alice: milk"), "{response}");

    let other = authorization_server
        .token("alice")
        .resource("https://other.example")
        .issue();
    let response = call("notes.list", json!({}), other).await;
    assert!(
        response.starts_with("HTTP/1.1 401 "),
        "AUTH-R-27: {response}"
    );
    for typ in ["oauth-id-jag+jwt", "dpop+jwt"] {
        let assertion = authorization_server.token("alice").resource(&resource);
        let response = call("notes.list", json!({}), assertion.typ(typ).issue()).await;
        assert!(
            response.starts_with("HTTP/1.1 401 "),
            "AUTH-R-67 AUTH-X-35: {typ} {response}"
        );
    }
    serving.abort();
}
