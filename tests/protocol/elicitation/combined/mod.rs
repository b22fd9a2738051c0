//! Elicitation combined with layers, timeouts, concurrency permits, streams and authenticated callers.

mod asking_layers;
mod callers;
mod layer_state;

use std::time::Duration;

use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::{ServiceBuilder, ServiceExt, layer::layer_fn, service_fn};
use treenail::ServerBuilder;
use treenail::layer::{Request, RequestService};
use treenail::prelude::*;
use treenail::schema::CallToolResult;
use treenail::schema::Revision;

use super::asking::add_asking;
use crate::support::covering::covering;
use crate::support::hotel::agree;
use crate::support::peer::{MODERN, Peer, text};
use crate::support::validator::validate_notification;

/// Revisions of both eras with elicitation.
const ASKED: [Revision; 2] = [Revision::V2025_11_25, MODERN];

fn server(add: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Server {
    add(add_asking(treenail::server!())).build().unwrap()
}

fn layered() -> Server {
    let layers = ServiceBuilder::new()
        .map_request(|call: Request| call)
        .layer(ConcurrencyLimitLayer::new(1));
    server(|server| server.layer(layers))
}

async fn able(server: &Server, revision: Revision) -> Peer {
    Peer::connect_as(server, revision, json!({"elicitation": {}})).await
}

fn call(name: &str) -> Value {
    json!({"name": name, "arguments": {"city": "Oslo"}})
}

/// The next round of a call of the modern era, which answers all requests of the previous round.
fn again(mut call: Value, asked: &Value) -> Value {
    let result = &asked["result"];
    call["requestState"] = result["requestState"].clone();
    for (key, question) in result["inputRequests"].as_object().unwrap() {
        call["inputResponses"][key] = agree(question);
    }
    call
}

#[tokio::test]
async fn elicitation_works_through_layers() {
    for revision in covering("SRV-MRTR-01, SRV-MRTR-14, SRV-ELI-02 since 2025-06-18") {
        let mut outcomes = Vec::new();
        for server in [server(|server| server), layered()] {
            let mut peer = able(&server, revision).await;
            let oslo = json!({"city": "Oslo"});
            let (answer, questions) = peer.call_and_agree("ask", oslo).await;
            assert_eq!(text(&answer["result"]), "Oslo", "{revision}");
            outcomes.push((answer, questions));
        }
        assert_eq!(outcomes[0], outcomes[1], "{revision}");
        assert_eq!(outcomes[0].1.len(), 2);
    }
}

#[tokio::test]
async fn missing_capabilities_are_reported_by_streams_and_through_layers() {
    for revision in covering("SRV-META-04, SRV-MRTR-06, SRV-ROOT-02") {
        let between = json!({"name": "ask_between"});
        for call in [call("ask"), call("ask_in_turn"), between] {
            for server in [server(|server| server), layered()] {
                let mut peer = Peer::connect(&server, revision).await;
                let answer = peer.request("tools/call", call.clone()).await;
                let (code, required) = (&answer["error"]["code"], &answer["error"]["data"]);
                let refused = (revision.is_modern()).then(|| (-32021, json!({"elicitation": {}})));
                let found = code
                    .as_i64()
                    .zip(required.get("requiredCapabilities").cloned());
                assert_eq!(found, refused, "SRV-META-04: {answer}");
                let failed = answer["result"]["isError"] == true;
                assert_eq!(failed, !revision.is_modern(), "SRV-ROOT-02: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn modern_elicitation_releases_the_permit() {
    for (server, name) in [
        (server(|server| server), "ask_in_turn"),
        (layered(), "ask"),
        (layered(), "ask_in_turn"),
    ] {
        let mut first = able(&server, MODERN).await;
        let mut second = able(&server, MODERN).await;
        let asked = first.request("tools/call", call(name)).await;
        assert_eq!(asked["result"]["resultType"], "input_required");
        // The other call holds the only permit from its first round to its last.
        let oslo = json!({"city": "Oslo"});
        let (answer, _) = second.call_and_agree(name, oslo).await;
        assert_eq!(text(&answer["result"]), "Oslo");
        let asked = first.request("tools/call", again(call(name), &asked)).await;
        let answer = first.request("tools/call", again(call(name), &asked)).await;
        assert_eq!(text(&answer["result"]), "Oslo");
    }
}

#[tokio::test]
async fn legacy_elicitation_holds_the_permit() {
    let server = server(|server| server);
    let mut first = able(&server, Revision::V2025_11_25).await;
    let mut second = able(&server, Revision::V2025_11_25).await;
    first.begin("tools/call", call("ask_in_turn")).await;
    let mut question = first.question().await;
    second.begin("tools/call", call("ask_in_turn")).await;
    // A client request would have arrived before this response.
    second.told_nothing().await;
    let answer = |question: &Value| json!({"jsonrpc": "2.0", "id": question["id"], "result": agree(question)});
    first.send(&answer(&question)).await;
    question = first.question().await;
    first.send(&answer(&question)).await;
    assert_eq!(text(&first.receive("tools/call").await["result"]), "Oslo");
    assert_eq!(second.question().await["params"]["message"], "Oslo?");
}

#[tokio::test(start_paused = true)]
async fn timeouts_include_legacy_elicitation_but_not_time_between_rounds() {
    for revision in covering("SRV-CANC-01, SRV-TOOL-16 in 2025-11-25, 2026-07-28") {
        let mut peer = able(&server(|server| server), revision).await;
        if revision.is_modern() {
            let mut request = call("ask_in_turn");
            for _ in 0..2 {
                let asked = peer.request("tools/call", request).await;
                request = again(call("ask_in_turn"), &asked);
                tokio::time::advance(Duration::from_secs(60)).await;
            }
            let answer = peer.request("tools/call", request).await;
            assert_eq!(text(&answer["result"]), "Oslo");
            assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-CANC-01");
            continue;
        }
        peer.begin("tools/call", call("ask_in_turn")).await;
        let question = peer.question().await;
        let taken_back = peer.receive_any().await.unwrap();
        validate_notification(revision, &taken_back);
        assert_eq!(taken_back["params"]["requestId"], question["id"]);
        let answer = peer.receive("tools/call").await;
        let expected =
            "the tool `ask_in_turn` did not finish within its limit of 5s; the call was given up";
        assert_eq!(text(&answer["result"]), expected);
        // The permit is free again.
        peer.begin("tools/call", call("ask_in_turn")).await;
        peer.question().await;
    }
}

/// Sends a request and answers the client requests meanwhile. Returns the progress notifications and the response.
async fn answering(peer: &mut Peer, call: Value) -> (Vec<Value>, Value) {
    peer.begin("tools/call", call).await;
    let mut notifications = Vec::new();
    loop {
        let mut message = peer.receive_any().await.unwrap();
        if message.get("method").is_none() {
            return (notifications, message);
        }
        if message.get("id").is_none() {
            notifications.push(message["params"]["progress"].take());
            continue;
        }
        let result = agree(&message);
        peer.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            .await;
    }
}

#[tokio::test]
async fn streams_can_elicit_between_items() {
    for server in [server(|server| server), layered()] {
        for revision in ASKED {
            let mut peer = able(&server, revision).await;
            let request =
                json!({"name": "ask_between", "arguments": {}, "_meta": {"progressToken": 1}});
            let (mut notifications, mut answer) = answering(&mut peer, request.clone()).await;
            while answer["result"]["resultType"] == "input_required" {
                let round = again(request.clone(), &answer);
                let (more, next) = answering(&mut peer, round).await;
                notifications.extend(more);
                answer = next;
            }
            assert_eq!(text(&answer["result"]), "[1,2,3]", "{revision}");
            // Each round of the modern era is a separate run with its own token.
            let expected = if revision.is_modern() {
                json!([1, 1, 2, 3])
            } else {
                json!([1, 2, 3])
            };
            assert_eq!(
                Value::from(notifications),
                expected,
                "SRV-PROG-02 {revision}"
            );
        }
    }
}

#[tokio::test]
async fn a_retrying_layer_elicits_once_in_the_modern_era() {
    let twice = layer_fn(|inner: RequestService| {
        service_fn(move |call: Request| {
            let inner = inner.clone();
            async move {
                let response = inner.clone().oneshot(call.clone()).await?;
                match response.result::<CallToolResult>() {
                    Some(_) => inner.oneshot(call).await,
                    None => Ok(response),
                }
            }
        })
    });
    let server = server(|server| server.layer(twice));
    for (revision, questions) in [(Revision::V2025_11_25, 4), (MODERN, 2)] {
        let mut peer = able(&server, revision).await;
        let oslo = json!({"city": "Oslo"});
        let (answer, asked) = peer.call_and_agree("ask", oslo).await;
        assert_eq!(text(&answer["result"]), "Oslo", "{revision}");
        assert_eq!(asked.len(), questions, "{revision}");
    }
}
