//! The modern era: the state that the client carries between rounds, and the answers that are accepted.

use std::time::Duration;

use serde_json::{Value, json};
use treenail::elicit::RequestStateKey;
use treenail::{Limits, Server};

use super::hotel::{Hotel, agree, guest, hotel, hotel_with};
use crate::support::covering::covering_one;
use crate::support::peer::{MODERN, error, text};

#[tokio::test]
async fn the_result_requests_input() {
    let revision =
        covering_one("SRV-MRTR-04, SRV-MRTR-14, SRV-BASE-04, SRV-CACHE-02 in 2026-07-28");
    let (_, server) = hotel();
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("book_and_pay", json!({}), json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "SRV-MRTR-04");
    let hints = (result.get("ttlMs"), result.get("cacheScope"));
    assert_eq!(hints, (None, None), "SRV-CACHE-02");
    let first = result["requestState"].as_str().unwrap();
    assert!(!first.contains("Ada"));
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "hotel", "{result}");

    let responses = json!({"who": agree(&result["inputRequests"]["who"])});
    let extra = json!({"requestState": first, "inputResponses": responses});
    let answer = peer.round("book_and_pay", json!({}), extra).await;
    let second = answer["result"]["requestState"].as_str().unwrap();
    assert_ne!(first, second);
    let keys: Vec<_> = answer["result"]["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        keys,
        ["pay"],
        "SRV-MRTR-14: what is answered is not asked again"
    );
}

#[tokio::test]
async fn foreign_state_is_rejected() {
    let revision = covering_one("SRV-MRTR-07, SRV-MRTR-08, SRV-MRTR-10 in 2026-07-28");
    let (_, server) = hotel();
    let (_, other_server) = hotel();
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("book", json!({"city": "Oslo"}), json!({})).await;
    let state = answer["result"]["requestState"]
        .as_str()
        .unwrap()
        .to_owned();
    let tampered = format!("{state}-TAMPERED");
    let mut flipped = state.clone();
    let last = flipped.pop().unwrap();
    flipped.push(if last == 'A' { 'B' } else { 'A' });

    let oslo = json!({"city": "Oslo"});
    for (what, state, tool, arguments) in [
        ("tampered", json!(tampered), "book", oslo.clone()),
        ("flipped", json!(flipped), "book", oslo.clone()),
        ("cut", json!(state[..20]), "book", oslo.clone()),
        ("empty", json!(""), "book", oslo.clone()),
        ("not a string", json!(5), "book", oslo.clone()),
        (
            "other arguments",
            json!(state),
            "book",
            json!({"city": "Rome"}),
        ),
        ("other tool", json!(state), "book_twin", oslo.clone()),
    ] {
        let answer = peer
            .round(tool, arguments, json!({"requestState": state}))
            .await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32602, "SRV-MRTR-08 SRV-MRTR-10 {what}: {message}");
    }
    let prompt = json!({"name": "book", "arguments": oslo});
    let answer = peer.request("prompts/get", prompt.clone()).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let mut with_state = prompt;
    with_state["requestState"] = json!(state);
    let (code, message) = peer.refused("prompts/get", with_state).await;
    assert_eq!(code, -32602, "SRV-MRTR-10 other method: {message}");
    let mut foreign = guest(&other_server, revision).await;
    let answer = foreign
        .round("book", oslo.clone(), json!({"requestState": state}))
        .await;
    assert_eq!(error(&answer).0, -32602, "SRV-MRTR-08 another server");
    let answer = peer
        .round("book", oslo, json!({"requestState": state}))
        .await;
    assert_eq!(
        answer["result"]["resultType"], "input_required",
        "it is still good"
    );
}

#[tokio::test]
async fn state_expires() {
    let revision = covering_one("SRV-MRTR-10 in 2026-07-28");
    let limits = Limits::default().elicitation_timeout(Duration::ZERO);
    let (_, server) = hotel_with(limits);
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("reserve", json!({}), json!({})).await;
    let state = &answer["result"]["requestState"];
    let answer = peer
        .round("reserve", json!({}), json!({"requestState": state}))
        .await;
    let (code, message) = error(&answer);
    assert_eq!(code, -32602, "SRV-MRTR-10");
    assert!(message.contains("expired"), "SRV-MRTR-10: {message}");
}

#[tokio::test]
async fn replicas_that_share_a_key_serve_one_conversation() {
    let revision = covering_one("ALL-MRTR-01, SRV-STATE-03 in 2026-07-28");
    let replica = || {
        let builder = Server::builder("hotel", "1.0.0");
        let builder = builder.request_state_key(RequestStateKey::new([7; 32]));
        builder.mount(Hotel::default()).build().unwrap()
    };
    let mut peers = [
        guest(&replica(), revision).await,
        guest(&replica(), revision).await,
    ];
    let mut extra = json!({});
    for round in 0..3 {
        let peer = &mut peers[round % 2];
        let answer = peer
            .round("book", json!({"city": "Oslo"}), extra.take())
            .await;
        let result = &answer["result"];
        if round == 2 {
            assert_eq!(text(result), "Ada in Oslo, breakfast: true", "ALL-MRTR-01");
            return;
        }
        extra = json!({"requestState": result["requestState"], "inputResponses": {}});
        for (key, question) in result["inputRequests"].as_object().unwrap() {
            extra["inputResponses"][key] = agree(question);
        }
    }
}

#[tokio::test]
async fn arguments_may_be_reordered_between_rounds() {
    let (_, server) = hotel();
    let mut peer = guest(&server, MODERN).await;
    let orders = [
        r#"{"name": "search", "arguments": {"city": "Oslo", "stars": {"from": 2, "to": 5}}}"#,
        r#"{"arguments": {"stars": {"to": 5, "from": 2}, "city": "Oslo"}, "name": "search"}"#,
    ]
    .map(|params| serde_json::from_str::<Value>(params).unwrap());
    let answer = peer.request("tools/call", orders[0].clone()).await;
    let mut again = orders[1].clone();
    again["requestState"] = answer["result"]["requestState"].clone();
    again["inputResponses"] = json!({"question-1": {"action": "accept"}});
    let answer = peer.request("tools/call", again).await;
    assert_eq!(text(&answer["result"]), "Oslo 2 to 5");
}

#[tokio::test]
async fn unexpected_answers_are_ignored_and_missing_ones_requested_again() {
    let revision = covering_one("SRV-MRTR-16, SRV-MRTR-17 in 2026-07-28");
    let (_, server) = hotel();
    let mut peer = guest(&server, revision).await;
    let name = json!({"action": "accept", "content": {"name": "Ada"}});

    let all = json!({"inputResponses": {"user_context": name, "x": 1, "y": null}});
    let mut params = all.clone();
    params["name"] = json!("greet");
    let answer = peer.request("prompts/get", params).await;
    assert!(
        answer["result"]["messages"].is_array(),
        "SRV-MRTR-16: {answer}"
    );

    let wrong = json!({"inputResponses": {"wrong_key": name}});
    let answer = peer.round("book_and_pay", json!({}), wrong).await;
    assert_eq!(
        answer["result"]["resultType"], "input_required",
        "SRV-MRTR-17"
    );

    let state = answer["result"]["requestState"].clone();
    let extra = json!({"requestState": state, "inputResponses": {"pay": name}});
    let answer = peer.round("book_and_pay", json!({}), extra).await;
    let keys: Vec<_> = answer["result"]["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        keys,
        ["who"],
        "SRV-MRTR-17: only what was asked is answered"
    );
}

#[tokio::test]
async fn malformed_answers_are_errors() {
    let revision = covering_one("SRV-MRTR-15 in 2026-07-28");
    let (_, server) = hotel();
    let mut peer = guest(&server, revision).await;
    for responses in [
        json!({"who": 12345}),
        json!({"who": ["accept", {}]}),
        json!({"who": {"action": "maybe"}}),
        json!({"who": {"action": "accept", "content": {"name": 5}}}),
        json!({"who": {"action": "accept"}}),
        json!(null),
        json!([]),
        json!("who"),
    ] {
        let extra = json!({"inputResponses": responses});
        let answer = peer.round("book_and_pay", json!({}), extra).await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32602, "SRV-MRTR-15 {responses}: {message}");
    }
}

#[tokio::test]
async fn the_modern_era_stores_nothing_between_rounds() {
    let revision = covering_one("SRV-MRTR-13 in 2026-07-28");
    let (hotel, server) = hotel();
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("wait", json!({}), json!({})).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    // The function is dropped before the client receives the request.
    let dropped = hotel.dropped.0.try_acquire();
    assert!(dropped.is_ok(), "SRV-MRTR-13");
}
