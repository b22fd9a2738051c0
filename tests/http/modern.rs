//! The outcomes of the modern era.

use serde_json::json;

use crate::client::Post;
use crate::fixture::service;

#[tokio::test]
async fn a_call_is_answered_with_json() {
    let answer = Post::tool("add", json!({"a": 2, "b": 3}))
        .send(&service())
        .await;
    assert_eq!(answer.status, 200, "SRV-HTTP-01: {answer:?}");
    assert_eq!(
        answer.json()["result"]["structuredContent"],
        5,
        "SRV-HTTP-08"
    );
}
