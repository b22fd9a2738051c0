//! The values to which a `requestState` is bound: the server, the questions, and the complete JSON of the arguments, including parts
//! that the function ignores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use treenail::Server;
use treenail::elicit::RequestStateKey;
use treenail::prelude::*;

use crate::support::hotel::guest;
use crate::support::peer::{MODERN, Peer, error, text};

/// Arguments of which the function reads only one.
#[mcp_type]
struct Details {
    #[serde(default)]
    note: Option<String>,
}

#[mcp_tool]
async fn pay(
    cx: &Context,
    amount: u64,
    to: u128,
    details: Option<Details>,
) -> Result<String, AskError> {
    cx.confirm("Really?").await?;
    let note = details.and_then(|details| details.note).unwrap_or_default();
    Ok(format!("paid {amount} to {to}: {note}"))
}

/// Price that rises with each run.
#[derive(Default)]
struct Price(Arc<AtomicU32>);

#[mcp_tool]
impl Price {
    #[tool]
    async fn buy(&self, cx: &Context, key: Option<String>) -> Result<String, AskError> {
        let price = self.0.fetch_add(1, Ordering::SeqCst);
        let question = cx.confirm(format!("Pay {price}?"));
        match key {
            Some(key) => question.key(key).await?,
            None => question.await?,
        }
        Ok(format!("paid {price}"))
    }
}

fn server() -> Server {
    server_called("bank")
}

fn server_called(name: &str) -> Server {
    Server::builder(name, "1.0.0")
        .request_state_key(RequestStateKey::new([7; 32]))
        .tools(tools![pay])
        .build()
        .unwrap()
}

/// Calls `pay` with the given JSON arguments, and accepts the elicitation if there is a state.
async fn call(peer: &mut Peer, arguments: &str, state: Option<&Value>) -> Value {
    let mut params = json!({"name": "pay", "arguments": "@"});
    if let Some(state) = state {
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({"question-1": {"action": "accept"}});
    }
    let message = peer.message(&json!(1), "tools/call", params).to_string();
    peer.send_line(&message.replace("\"@\"", arguments)).await;
    peer.receive("tools/call").await
}

/// Creates a state for some arguments, and uses it with others.
async fn tried(peer: &mut Peer, made_for: &str, with: &str) -> Value {
    let answer = call(peer, made_for, None).await;
    let state = &answer["result"]["requestState"];
    assert!(state.is_string(), "{made_for}: {answer}");
    call(peer, with, Some(state)).await
}

#[tokio::test]
async fn state_is_rejected_for_different_arguments() {
    let mut peer = guest(&server(), MODERN).await;
    let cases = [
        (
            r#"{"amount":1,"to":7,"details":{"x":1e999}}"#,
            r#"{"amount":1000000,"to":7,"details":{"x":1e999}}"#,
        ),
        (
            r#"{"amount":1,"to":340282366920938463463374607431768211455}"#,
            r#"{"amount":1,"to":340282366920938463463374607431768211454}"#,
        ),
        (
            r#"{"amount":1,"to":7,"details":{"x":1e999}}"#,
            r#"{"amount":1,"to":7,"details":{"x":1e998}}"#,
        ),
        (
            r#"{"amount":1,"to":7,"details":{"x":1,"x":2}}"#,
            r#"{"amount":1,"to":7,"details":{"x":2,"x":1}}"#,
        ),
        (
            r#"{"amount":1,"to":7,"details":{"\u0078":1,"x":2}}"#,
            r#"{"amount":1,"to":7,"details":{"x":2,"\u0078":1}}"#,
        ),
        (
            r#"{"amount":1,"to":7,"details":{"x":["a,b"]}}"#,
            r#"{"amount":1,"to":7,"details":{"x":["a","b"]}}"#,
        ),
        (
            r#"{"amount":1,"to":7,"details":{"x":{"y":1}}}"#,
            r#"{"amount":1,"to":7,"details":{"x":{},"y":1}}"#,
        ),
        (
            r#"{"amount":1,"to":7,"details":null}"#,
            r#"{"amount":1,"to":7}"#,
        ),
    ];
    for (made_for, with) in cases {
        for (made_for, with) in [(made_for, with), (with, made_for)] {
            let answer = tried(&mut peer, made_for, with).await;
            assert_eq!(error(&answer).0, -32602, "{made_for} {with}: {answer}");
            assert!(error(&answer).1.contains("requestState"), "{answer}");
        }
    }
}

#[tokio::test]
async fn state_is_accepted_for_reordered_arguments() {
    let mut peer = guest(&server(), MODERN).await;
    let deep = format!(
        r#"{{"amount":1,"to":7,"details":{{"x":{}1{}}}}}"#,
        "[".repeat(58),
        "]".repeat(58)
    );
    let cases = [
        (&*deep, &*deep),
        (
            r#"{"amount":1,"to":7,"details":{"note":"a b","x":1e999,"y":[1, {"b":1,"a":2}]}}"#,
            "{ \"details\" : {\"y\":[1,{\"a\":2,\t\"b\":1}] ,\"x\":1e999,\"note\":\"a b\"},\"to\": 7,\"amount\":1}",
        ),
        (
            r#"{"amount":1,"to":340282366920938463463374607431768211455}"#,
            r#"{"to":340282366920938463463374607431768211455,"amount":1}"#,
        ),
    ];
    for (made_for, with) in cases {
        let answer = tried(&mut peer, made_for, with).await;
        let actual = text(&answer["result"]);
        assert!(actual.starts_with("paid 1 to "), "{answer}");
    }
}

#[tokio::test]
async fn state_is_rejected_by_a_server_with_another_name() {
    let (bank, shop) = (server_called("bank"), server_called("shop"));
    let mut peers = [guest(&bank, MODERN).await, guest(&shop, MODERN).await];
    let arguments = r#"{"amount":1,"to":7}"#;
    let asked = call(&mut peers[0], arguments, None).await;
    let state = Some(&asked["result"]["requestState"]);
    let answer = call(&mut peers[1], arguments, state).await;
    assert_eq!(error(&answer).0, -32602, "they share a key: {answer}");
    let answer = call(&mut peers[0], arguments, state).await;
    assert_eq!(text(&answer["result"]), "paid 1 to 7: ");
}

#[tokio::test]
async fn an_answer_is_not_used_for_another_question_with_the_same_key() {
    for arguments in [json!({}), json!({"key": "price"})] {
        let server = treenail::server!().mount(Price::default());
        let mut peer = guest(&server.build().unwrap(), MODERN).await;
        let mut extra = json!({});
        for price in 0..3 {
            let asked = peer.round("buy", arguments.clone(), extra).await;
            let requests = asked["result"]["inputRequests"].as_object();
            let (key, request) = requests.unwrap().iter().next().unwrap();
            let message = &request["params"]["message"];
            assert_eq!(*message, format!("Pay {price}?"), "{asked}");
            extra = json!({
                "requestState": asked["result"]["requestState"],
                "inputResponses": {key: {"action": "accept", "content": {}}},
            });
        }
    }
}
