//! The legacy era: clients that decline, answer late or never, cancel a call, or disconnect.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::Limits;
use treenail::schema::Revision;

use super::hotel::{guest, hotel, hotel_with};
use crate::support::covering::covering;
use crate::support::peer::{at_rest, text};
use crate::support::validator::validate_notification;

#[tokio::test]
async fn legacy_clients_may_decline_answer_late_twice_or_never() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let params = json!({"name": "wait", "arguments": {}});
        peer.begin("tools/call", params.clone()).await;
        let question = peer.question().await;
        let refusal = json!({"code": -1, "message": "busy"});
        peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": refusal}))
            .await;
        let answer = peer.receive("tools/call").await;
        let expected = "the client could not answer: busy (code -1)";
        assert_eq!(text(&answer["result"]), expected, "SRV-ELI-08");

        let accepted = json!({"action": "accept", "content": {}});
        for id in [
            question["id"].clone(),
            json!("1"),
            json!(-1),
            json!(1.5),
            json!(99),
        ] {
            peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": accepted}))
                .await;
        }
        // One of them is not a valid ID, and gets an error.
        let flawed = peer.receive_any().await.unwrap();
        assert_eq!(flawed["error"]["code"], -32600);

        peer.begin("tools/call", params.clone()).await;
        let question = peer.question().await;
        let malformed = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": 1}});
        peer.send(&malformed).await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
}

#[tokio::test]
async fn a_cancelled_call_cancels_its_elicitation() {
    for revision in covering("SRV-CANC-03, ALL-CANC-07 in 2025-06-18, 2025-11-25") {
        let (hotel, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let id = peer
            .begin("tools/call", json!({"name": "wait", "arguments": {}}))
            .await;
        let question = peer.question().await;
        peer.send(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": id},
        }))
        .await;
        hotel.dropped.0.acquire().await.unwrap().forget();
        let cancelled = peer.receive_any().await.unwrap();
        validate_notification(revision, &cancelled);
        assert_eq!(
            cancelled["params"]["requestId"], question["id"],
            "SRV-CANC-03"
        );
        assert_eq!(peer.finish().await, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn unanswered_elicitations_time_out() {
    tokio::time::pause();
    let limits = Limits::default().elicitation_timeout(Duration::from_secs(60));
    let (_, server) = hotel_with(limits);
    for revision in
        covering("ALL-CANC-03, ALL-CANC-04, ALL-CANC-06 in 2025-03-26, 2025-06-18, 2025-11-25")
    {
        let mut peer = guest(&server, revision).await;
        peer.begin("tools/call", json!({"name": "sample", "arguments": {}}))
            .await;
        let question = peer.question().await;
        let cancelled = peer.receive_any().await.unwrap();
        validate_notification(peer.revision, &cancelled);
        assert_eq!(
            cancelled["params"]["requestId"], question["id"],
            "ALL-CANC-03"
        );
        let answer = peer.receive("tools/call").await;
        assert_eq!(text(&answer["result"]), "there was no answer in time");
    }
}

#[tokio::test]
async fn a_disconnect_ends_pending_elicitations() {
    let (hotel, server) = hotel_with(Limits::default().shutdown_timeout(Duration::ZERO));
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    peer.begin("tools/call", json!({"name": "wait", "arguments": {}}))
        .await;
    peer.question().await;
    peer.finish().await;
    hotel.dropped.0.acquire().await.unwrap().forget();
}

#[tokio::test(start_paused = true)]
async fn a_question_that_cannot_be_answered_any_more_does_not_delay_the_end() {
    let limits = [
        Limits::default(),
        // The second question waits for the first one, or even its call does.
        Limits::default().pending_client_requests(1),
        Limits::default().calls_in_flight(1),
    ];
    for (limits, is_closed) in limits
        .into_iter()
        .flat_map(|it| [(it.clone(), false), (it, true)])
    {
        let (_, server) = hotel_with(limits);
        let mut peer = guest(&server, Revision::V2025_11_25).await;
        for _ in 0..2 {
            peer.begin("tools/call", json!({"name": "wait", "arguments": {}}))
                .await;
        }
        at_rest().await;
        let start = Instant::now();
        if is_closed {
            server.close();
        } else {
            peer.end_input().await;
        }
        let mut answered = 0;
        while answered < 2 {
            let message = peer.receive_any().await.expect("both calls are answered");
            if message.get("result").is_some() {
                assert_eq!(text(&message["result"]), "the call has ended");
                answered += 1;
            }
        }
        assert_eq!(peer.finish().await, [] as [Value; 0]);
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
