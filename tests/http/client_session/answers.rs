//! Answers to requests of a legacy server that do not arrive at once.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use treenail::client::{ClientError, ClientLimits, HttpClientLimits};

use super::legacy::{add, default_response};
use super::listener::TestSession;
use super::scripted_server::{Received, Response, ScriptedServer};

const RETRY: &str = "retry-after: 0";

/// Starts a server that sends a request with this method on the stream of a call, and refuses the response with these statuses first. It
/// answers the call after it has accepted the response, or at once if it only pings.
async fn asking(method: &'static str, mut refusals: Vec<u16>) -> ScriptedServer {
    let stream = Arc::<Mutex<Option<UnboundedSender<String>>>>::default();
    let respond = move |received: &Received| match (&*received.method, received.rpc()) {
        ("POST", "tools/call") => {
            let ask = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}});
            let (response, more) = Response::open_stream(&format!("data: {ask}\n\n"));
            *stream.lock().unwrap() = Some(more);
            response
        }
        ("POST", "") => {
            assert_eq!(received.body["id"], 7);
            let refusal = refusals.pop();
            if refusal.is_none() || method == "ping" {
                let result = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
                let stream = stream.lock().unwrap().take();
                let answer = format!("data: {result}\n\n");
                stream.unwrap().send(answer).unwrap();
            }
            refusal.map_or_else(Response::accepted, |status| {
                Response::complete(status, RETRY, "")
            })
        }
        _ => default_response(received),
    };
    ScriptedServer::new(respond).await
}

/// Connects a client that answers at once, and sends a failed answer twice again.
async fn connect(server: &ScriptedServer) -> TestSession {
    let limits = ClientLimits::default().http(HttpClientLimits::default().resume_attempts(2));
    let client = TestSession::answering(&server.url, limits);
    client.initialize().await.unwrap();
    client.initialized().await.unwrap();
    client
}

#[tokio::test]
async fn an_answer_of_a_user_is_sent_again_after_failures_that_may_pass() {
    let mut server = asking("elicitation/create", vec![503, 429]).await;
    connect(&server).await.send(add(1)).await.unwrap();
    server.next_request_with("tools/call").await;
    let mut answers = Vec::new();
    while let Some(received) = server.try_next() {
        answers.extend((!received.body["result"].is_null()).then_some(received.body));
    }
    let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
    assert_eq!(answers, [answer.clone(), answer.clone(), answer]);
}

#[tokio::test]
async fn a_lost_answer_of_a_user_fails_the_call_that_waits_for_it() {
    let ended = "the session has ended before the answer";
    let lost = "the answer to a question of the server could not be sent: ";
    for (refusals, reason, is_cancelled) in [
        (vec![503; 3], lost, true),
        (vec![413], lost, true),
        (vec![404], ended, false),
    ] {
        let name = format!("{refusals:?}");
        let sent = refusals.len();
        let mut server = asking("elicitation/create", refusals).await;
        let client = connect(&server).await;
        let called = client.send(add(1)).await;
        let Err(ClientError::Closed(text)) = called else {
            panic!("{name}: {called:?}");
        };
        assert!(text.starts_with(reason), "{name}: {text}");
        server.next_request_with("tools/call").await;
        for _ in 0..sent {
            let received = server.next_request().await;
            assert_eq!(received.body["id"], 7, "{name}: {received:?}");
        }
        if is_cancelled {
            let cancelled = server.next_request_with("notifications/cancelled").await;
            let params = &cancelled.body["params"];
            assert_eq!(*params, json!({"requestId": 1}), "{name}");
        }
    }
}

#[tokio::test]
async fn a_call_survives_the_lost_answer_to_a_ping() {
    for status in [404, 413, 503] {
        let server = asking("ping", vec![status]).await;
        connect(&server).await.send(add(1)).await.unwrap();
    }
}
