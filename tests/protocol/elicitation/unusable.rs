//! Responses of a legacy client that cannot be used, or that arrive in a batch.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use super::hotel::{guest, hotel, hotel_with};
use crate::support::peer::{Peer, error, text};

/// Starts a call that asks, and returns its id and that of its question.
async fn ask(peer: &mut Peer, tool: &str) -> (i64, Value) {
    let id = peer.begin("tools/call", json!({"name": tool})).await;
    let mut question = peer.question().await;
    (id, question["id"].take())
}

#[tokio::test]
async fn a_malformed_response_ends_its_question_without_an_answer() {
    let (open, close) = ("[".repeat(80), "]".repeat(80));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"roots":[],"a":{open}{close}}}}}"#);
    let lines = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"roots":[]},"error":null}"#,
        r#"{"id":ID,"result":{"roots":[]}}"#,
        &deep,
    ];
    for line in lines {
        let (_, server) = hotel();
        let mut peer = guest(&server, Revision::V2025_11_25).await;
        let (call, question) = ask(&mut peer, "roots").await;
        peer.send_line(&line.replace("ID", &question.to_string()))
            .await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["id"], call, "ALL-BASE-05: {answer}");
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let reason = text(&answer["result"]);
        assert!(reason.contains("its response is not valid"), "{reason}");
        assert_eq!(peer.finish().await, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn an_oversized_response_ends_its_question() {
    let (_, server) = hotel_with(Limits::default().message_bytes(1_000));
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    let (call, question) = ask(&mut peer, "roots").await;
    let result = json!({"roots": [], "x": "x".repeat(2_000)});
    let response = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    peer.send(&response(&question)).await;
    let answer = peer.receive("tools/call").await;
    assert_eq!(answer["id"], call, "{answer}");
    let reason = text(&answer["result"]);
    assert!(reason.contains("longer than 1000 bytes"), "{reason}");
    // One to no pending question still gets an error without an id.
    peer.send(&response(&question)).await;
    let answer = peer.receive_any().await.unwrap();
    assert_eq!(error(&answer).0, -32600);
    assert_eq!(answer.get("id"), None, "{answer}");
    assert_eq!(peer.finish().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_deferred_batch_delivers_its_responses_at_once() {
    let (_, server) = hotel_with(Limits::default().calls_in_flight(1));
    let mut peer = guest(&server, Revision::V2025_03_26).await;
    let (call, question) = ask(&mut peer, "roots").await;
    let response = json!({"jsonrpc": "2.0", "id": question, "result": {"roots": []}});
    let other = peer.message(&json!("b"), "tools/call", json!({"name": "degrade"}));
    peer.send(&json!([response, other])).await;
    let answer = peer.receive("tools/call").await;
    assert_eq!(answer["id"], call, "ALL-BASE-10: {answer}");
    assert_eq!(answer["result"]["isError"], Value::Null, "{answer}");
    let answers = peer.receive_any().await.unwrap();
    assert_eq!(answers[0]["id"], "b", "{answers}");
    assert_eq!(peer.finish().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_rejected_batch_delivers_its_responses_and_answers_each_request() {
    let (_, server) = hotel_with(Limits::default().calls_in_flight(1).backlog_bytes(0));
    let mut peer = guest(&server, Revision::V2025_03_26).await;
    let (call, question) = ask(&mut peer, "roots").await;
    let deferred = peer.begin("tools/call", json!({"name": "degrade"})).await;
    let response = json!({"jsonrpc": "2.0", "id": question, "result": {"roots": []}});
    let other = peer.message(&json!("b"), "tools/call", json!({"name": "degrade"}));
    let ping = peer.message(&json!("p"), "ping", json!({}));
    peer.send(&json!([response, other, ping])).await;
    let rejected = peer.receive_any().await.unwrap();
    let ids: Vec<_> = rejected.as_array().unwrap().iter().collect();
    assert_eq!(ids.len(), 2, "{rejected}");
    for (answer, id) in ids.into_iter().zip(["b", "p"]) {
        assert_eq!(answer["id"], id, "SRV-BASE-06: {rejected}");
        assert_eq!(error(answer).0, -32603, "{rejected}");
    }
    for id in [call, deferred] {
        assert_eq!(peer.receive("tools/call").await["id"], id);
    }
    assert_eq!(peer.finish().await, [] as [Value; 0]);
}
