//! Request states: only the state of a request continues it, byte for byte.

use std::sync::LazyLock;

use serde_json::{Value, json};
use treenail::elicit::RequestStateKey;
use treenail::prelude::*;

use crate::in_memory::{Peer, run as run_future, text};

/// Pays an amount.
#[mcp_tool]
async fn pay(cx: &Context, amount: u64, note: Option<String>) -> Result<String, AskError> {
    cx.confirm("Really?").await?;
    Ok(format!("paid {amount} {note:?}"))
}

/// Lends an amount.
#[mcp_tool]
async fn lend(cx: &Context, amount: u64) -> Result<String, AskError> {
    cx.confirm("Really?").await?;
    Ok(format!("lent {amount}"))
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let builder = Server::builder("bank", "1.0.0").tools(tools![pay, lend]);
    let builder = builder.request_state_key(RequestStateKey::new([7; 32]));
    builder.build().expect("the server is valid")
});

const ARGUMENTS: &str = r#"{"amount":7,"note":"a\u0062"}"#;

/// Second round of a call.
struct Round<'a> {
    tool: &'a str,
    arguments: &'a str,
    state: String,
    principal: &'a str,
}

/// The first byte selects the part of the request that changes, and the rest is the change.
pub(crate) fn run(data: &[u8]) {
    let [part, change @ ..] = data else {
        return;
    };
    run_future(async {
        let state = first_round().await;
        let text = std::str::from_utf8(change).unwrap_or_default();
        let mut round = Round {
            tool: "pay",
            arguments: ARGUMENTS,
            state: json!(state).to_string(),
            principal: "alice",
        };
        match part % 6 {
            0 => round.state = json!(edited(&state, change)).to_string(),
            1 => round.state = json!(text).to_string(),
            2 if is_object(text) => round.arguments = text,
            3 => round.tool = text,
            4 => round.principal = text,
            5 => return check_key(text),
            _ => {}
        }
        let is_same = serde_json::from_str::<String>(&round.state).is_ok_and(|it| it == state)
            && round.tool == "pay"
            && is_same_json(round.arguments)
            && round.principal == "alice";
        let answer = second_round(&round).await;
        let is_opened = self::text(&answer) == r#"paid 7 Some("ab")"#;
        assert_eq!(is_opened, is_same, "{answer}");
        if !is_opened {
            let is_refused = answer["error"]["code"].is_i64();
            assert!(is_refused, "{answer}");
        }
    });
}

async fn first_round() -> String {
    let mut peer = peer("alice");
    let members = format!(r#""name":"pay","arguments":{ARGUMENTS}"#);
    let answer = peer.modern_request("tools/call", &members).await;
    let state = answer["result"]["requestState"].as_str();
    state
        .unwrap_or_else(|| panic!("no state: {answer}"))
        .to_owned()
}

async fn second_round(round: &Round<'_>) -> Value {
    let members = format!(
        r#""name":{},"arguments":{},"requestState":{},"inputResponses":{{"question-1":{{"action":"accept"}}}}"#,
        json!(round.tool),
        round.arguments,
        round.state
    );
    peer(round.principal)
        .modern_request("tools/call", &members)
        .await
}

fn peer(principal: &str) -> Peer {
    let peer = Peer::modern(&SERVER, json!({"elicitation": {"form": {}}}));
    peer.with_principal(principal)
}

/// Applies edits of three bytes each: a position, an operation, and a character.
fn edited(state: &str, edits: &[u8]) -> String {
    let mut letters: Vec<char> = state.chars().collect();
    for edit in edits.chunks_exact(3) {
        let at = usize::from(edit[0]) * letters.len() / 256;
        let letter = char::from(edit[2]);
        match edit[1] % 5 {
            0 => letters.insert(at, letter),
            1 if !letters.is_empty() => drop(letters.remove(at)),
            2 => letters.truncate(at),
            3 if !letters.is_empty() => letters[at] = letter,
            _ => letters.push(letter),
        }
    }
    letters.into_iter().collect()
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok()
}

/// The state is bound to the text of the arguments, except for white space and the order of members.
fn is_same_json(arguments: &str) -> bool {
    use treenail_schema::internal::wire::canonical;
    canonical(arguments) == canonical(ARGUMENTS)
}

/// Only 32 bytes in base64 are a key.
fn check_key(text: &str) {
    if text.parse::<RequestStateKey>().is_ok() {
        let digits = text.trim().trim_end_matches('=');
        assert_eq!(digits.len(), 43, "{text}");
    }
}
