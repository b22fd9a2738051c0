//! Limits: rounds, carried answers, waiting calls, and pending client requests.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use super::hotel::{guest, hotel_with};
use crate::support::peer::{MODERN, error};

#[tokio::test]
async fn rounds_and_carried_answers_are_bounded() {
    let (_, server) = hotel_with(Limits::default().input_rounds(3));
    let mut peer = guest(&server, MODERN).await;
    let (answer, questions) = peer.call_and_agree("endless", json!({})).await;
    assert_eq!(questions.len(), 3);
    let (code, message) = error(&answer);
    assert_eq!(code, -32603);
    assert!(message.contains("more than 3 rounds"), "{message}");

    let answer = peer.round("hoard", json!({}), json!({})).await;
    let (code, message) = error(&answer);
    assert_eq!(code, -32603);
    assert!(message.contains("65536 bytes"), "{message}");
}

#[tokio::test]
async fn waiting_calls_do_not_block_the_answers() {
    let (_, server) = hotel_with(Limits::default().calls_in_flight(2).backlog_bytes(0));
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    let params = json!({"name": "wait", "arguments": {}});
    let mut questions = Vec::new();
    for _ in 0..2 {
        peer.begin("tools/call", params.clone()).await;
        questions.push(peer.question().await);
    }
    let held = peer.begin("tools/call", params.clone()).await;
    let refused = peer.request("tools/call", params).await;
    let (code, message) = error(&refused);
    assert_eq!(code, -32603);
    assert!(message.contains("2 calls are in flight"), "{message}");
    let mut third = None;
    for question in questions {
        let accepted = json!({"action": "accept", "content": {}});
        peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted}))
            .await;
        let answer = peer.receive("tools/call").await;
        assert!(answer["result"].get("isError").is_none(), "{answer}");
        if third.is_none() {
            third = Some(peer.question().await);
        }
    }
    let third = third.unwrap();
    // The third one was sent after the first was answered.
    let accepted = json!({"action": "accept", "content": {}});
    let answer = json!({"jsonrpc": "2.0", "id": third["id"], "result": accepted});
    peer.send(&answer).await;
    assert_eq!(peer.receive("tools/call").await["id"], held);
}

#[tokio::test]
async fn pending_client_requests_are_bounded_and_others_wait() {
    let (_, server) = hotel_with(Limits::default().pending_client_requests(1));
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    let params = json!({"name": "wait", "arguments": {}});
    peer.begin("tools/call", params.clone()).await;
    peer.begin("tools/call", params).await;
    let question = peer.question().await;
    // Any earlier message would arrive before this response.
    let pong = peer.request("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
    let accepted = json!({"action": "accept", "content": {}});
    let answer =
        |question: &Value| json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted});
    peer.send(&answer(&question)).await;
    for _ in 0..3 {
        let message = peer.receive_any().await.unwrap();
        if message.get("method").is_some() {
            peer.send(&answer(&message)).await;
        } else {
            assert!(message["result"].get("isError").is_none(), "{message}");
        }
    }
}
