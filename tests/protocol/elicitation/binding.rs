//! Arguments to which a `requestState` is bound: their complete JSON, including parts that the function ignores.

use serde_json::{Value, json};
use treenail::Server;
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

fn server() -> Server {
    Server::builder("bank", "1.0.0")
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
