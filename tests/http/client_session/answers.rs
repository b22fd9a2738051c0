//! Answers to requests of a legacy server that do not arrive at once.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use treenail::client::{ClientError, ClientLimits, HttpClientLimits};

use super::legacy::{add, default_response};
use super::listener::TestSession;
use super::scripted_server::{Received, Response, ScriptedServer};
use crate::log::Log;

const RETRY: &str = "retry-after: 0";

/// Stream of a call that waits for an answer.
type OpenCall = Arc<Mutex<Option<UnboundedSender<String>>>>;

/// Starts a server that sends a request with this method on the stream of a call, and refuses the response with these statuses first. It
/// answers the call after it has accepted the response, or at once if it only pings.
async fn asking(method: &'static str, refusals: Vec<u16>) -> ScriptedServer {
    let refusals = refusals
        .into_iter()
        .map(|status| Response::complete(status, RETRY, ""));
    asking_with(method, refusals.collect()).await.0
}

/// As [`asking`], with whole responses in place of statuses.
async fn asking_with(method: &'static str, refusals: Vec<Response>) -> (ScriptedServer, OpenCall) {
    let call = OpenCall::default();
    let (mut refusals, open) = (refusals.into_iter(), Arc::clone(&call));
    let respond = move |received: &Received| match (&*received.method, received.rpc()) {
        ("POST", "tools/call") => {
            let ask = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}});
            let (response, more) = Response::open_stream(&format!("data: {ask}\n\n"));
            *open.lock().unwrap() = Some(more);
            response
        }
        ("POST", "") => {
            assert_eq!(received.body["id"], 7);
            let refusal = refusals.next();
            if refusal.is_none() || method == "ping" {
                end(&open);
            }
            refusal.unwrap_or_else(Response::accepted)
        }
        _ => default_response(received),
    };
    (ScriptedServer::new(respond).await, call)
}

/// Answers the call.
fn end(call: &OpenCall) {
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let stream = call.lock().unwrap().take().unwrap();
    stream.send(format!("data: {result}\n\n")).unwrap();
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
async fn a_call_survives_an_answer_that_is_refused_or_may_have_arrived() {
    let status = |status| Response::complete(status, RETRY, "");
    let refused = || {
        let error = json!({"code": -32602, "message": "no such request"});
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
        Response::complete(400, "content-type: application/json", &body)
    };
    for (case, refusals) in [
        vec![refused()],
        vec![Response::raw(""), refused()],
        vec![Response::raw(""), status(413)],
        vec![status(502), refused()],
        vec![status(504), status(503), status(503)],
        vec![status(400)],
        vec![status(409), status(409), status(409)],
    ]
    .into_iter()
    .enumerate()
    {
        let (log, _guard) = Log::record(tracing::Level::WARN);
        let (server, call) = asking_with("elicitation/create", refusals).await;
        let client = connect(&server).await;
        let called = client.spawn(add(1));
        while log.lines().is_empty() {
            tokio::task::yield_now().await;
        }
        let lines = log.lines();
        assert!(
            lines[0].contains("an answer could not be sent"),
            "{case}: {lines:?}"
        );
        end(&call);
        let result = called.await.unwrap();
        assert!(result.is_ok(), "{case}: {result:?}");
    }
}

#[tokio::test]
async fn a_call_survives_the_lost_answer_to_a_ping() {
    for status in [404, 413, 503] {
        let server = asking("ping", vec![status]).await;
        connect(&server).await.send(add(1)).await.unwrap();
    }
}
