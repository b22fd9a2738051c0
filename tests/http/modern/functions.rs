//! Functions: their errors, and the facts of their request.

use serde_json::{Value, json};
use treenail::context::Principal;

use super::fixture::{Tenant, builder, service};
use crate::client::Post;

#[tokio::test]
async fn errors_of_functions_are_results() {
    let service = service();
    let unknown = Post::tool("subtract", json!({}));
    unknown
        .expect_rejected(&service, 200, -32602, "AMB-13")
        .await;
    let missing = Post::modern("resources/read", json!({"uri": "notes:none"}));
    missing
        .expect_rejected(&service, 200, -32602, "AMB-13")
        .await;
    let cursor = Post::modern("tools/list", json!({"cursor": "?"}));
    cursor
        .expect_rejected(&service, 200, -32602, "AMB-13")
        .await;
}

#[tokio::test]
async fn functions_can_read_the_principal_of_a_layer() {
    let server = builder().build().unwrap();
    let service = treenail::http::http_service(server);
    let post = Post::tool("whoami", json!({})).with("user-agent", "probe");
    let response = post.clone().send(&service).await.json();
    assert_eq!(
        response["result"]["content"][0]["text"],
        r#"None Some("probe")"#
    );
    let response = post.send_as(&service, Principal::new("ada")).await.json();
    assert_eq!(
        response["result"]["content"][0]["text"],
        r#"Some("ada") Some("probe")"#
    );
}

#[tokio::test]
async fn functions_can_read_the_request_extensions_of_a_layer() {
    let service = service();
    let post = Post::tool("tenant", json!({}));
    let response = post.clone().send(&service).await.json();
    assert_eq!(response["result"]["structuredContent"], Value::Null);
    let response = post.send_as(&service, Tenant(7)).await.json();
    assert_eq!(response["result"]["structuredContent"], 7);
}
