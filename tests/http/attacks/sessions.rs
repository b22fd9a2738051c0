//! Floods of sessions, and attempts to use the sessions of others.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::process::Attacked;
use super::wire::{Good, ask, call, statuses, until};
use crate::client::Post;
use crate::sockets::text;

/// Session of the legacy era.
pub(super) struct Session {
    address: SocketAddr,
    id: String,
}

fn initialize() -> Post {
    let params = json!({
        "protocolVersion": "2025-03-26",
        "capabilities": {"elicitation": {}, "roots": {"listChanged": true}, "sampling": {}},
        "clientInfo": {"name": "attacker", "title": "An attacker", "version": "1.0.0"},
    });
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    Post::raw(message.to_string())
}

/// Returns the session id in a response.
fn id_of(response: &str) -> Option<&str> {
    let (_, rest) = response.split_once("mcp-session-id: ")?;
    rest.lines().next()
}

impl Session {
    pub(super) async fn start(address: SocketAddr) -> Self {
        let response = ask(address, &initialize()).await;
        let id = id_of(&response).unwrap().to_owned();
        let session = Self { address, id };
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(statuses(&session.ask(&session.post(&done)).await), [202]);
        session
    }

    pub(super) fn post(&self, message: &Value) -> Post {
        Post::raw(message.to_string()).with("mcp-session-id", &self.id)
    }

    pub(super) fn tool(&self, id: usize, name: &str) -> Post {
        let params = json!({"name": name, "arguments": {}, "_meta": {"progressToken": 1}});
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    }

    pub(super) fn get(&self) -> Post {
        let get = self.post(&Value::Null).method("GET");
        Post {
            body: String::new(),
            ..get
        }
    }

    pub(super) async fn ask(&self, post: &Post) -> String {
        ask(self.address, post).await
    }
}

/// Starts sessions on one connection, with pipelined requests.
async fn flood(address: SocketAddr, many: usize) {
    let last = text(&initialize(), "/mcp");
    let requests = last.replace("connection: close\r\n", "").repeat(many - 1) + &last;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let (mut reader, mut writer) = socket.split();
    let mut responses = String::new();
    let sending = writer.write_all(requests.as_bytes());
    let (sent, read) = tokio::join!(sending, reader.read_to_string(&mut responses));
    sent.and(read).unwrap();
    assert_eq!(responses.matches("mcp-session-id: ").count(), many);
    assert!(statuses(&responses).iter().all(|status| *status == 200));
}

#[tokio::test]
async fn ten_thousand_idle_sessions_cost_bounded_memory() {
    const SESSIONS: usize = 10_000;
    let attacked = Attacked::start(&json!({"http.sessions": SESSIONS}));
    let good = Good::start(attacked.address);
    let session = Session::start(attacked.address).await;
    let memory = attacked.memory();
    flood(attacked.address, SESSIONS - 1).await;
    memory.check(SESSIONS * 5 * 1_024, "ten thousand sessions");
    let ping = session.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(
        statuses(&session.ask(&ping).await),
        [200],
        "the session is no longer the oldest"
    );
    // Further sessions evict those that were idle for longest.
    let memory = attacked.memory();
    flood(attacked.address, SESSIONS / 4).await;
    memory.check(0, "a quarter more sessions");
    assert_eq!(statuses(&session.ask(&ping).await), [200]);
    good.finish().await;
}

#[tokio::test]
async fn abandoned_calls_do_not_block_other_clients() {
    const SESSIONS: usize = 20;
    let attacked = Attacked::start(&json!({"http.sessions": SESSIONS}));
    let good = Good::start(attacked.address);
    let mut attended = TcpStream::connect(attacked.address).await.unwrap();
    let first = Session::start(attacked.address).await;
    let get = text(&first.get(), "/mcp");
    attended.write_all(get.as_bytes()).await.unwrap();
    attended.read_exact(&mut [0; 15]).await.unwrap();
    for id in 0..SESSIONS - 1 {
        let session = Session::start(attacked.address).await;
        let mut socket = TcpStream::connect(attacked.address).await.unwrap();
        let sleep = text(&session.tool(id, "sleep"), "/mcp");
        socket.write_all(sleep.as_bytes()).await.unwrap();
        until(attacked.address, "running", id + 1).await;
    }
    for _ in 0..SESSIONS {
        Session::start(attacked.address).await;
    }
    let running = call(attacked.address, "running", json!({})).await;
    assert!(running.as_u64().unwrap() < 19, "{running} calls go on");
    let ping = first.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(
        statuses(&first.ask(&ping).await),
        [200],
        "calls of connected clients are not ended"
    );
    good.finish().await;
}

#[tokio::test]
async fn session_ids_can_be_neither_guessed_nor_chosen() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let session = Session::start(attacked.address).await;
    let id = &session.id;
    let shorter = &id[..id.len() - 1];
    let other = format!("{shorter}{}", if id.ends_with('A') { 'B' } else { 'A' });
    let list = session.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let mut responses = Vec::new();
    for guess in [
        &*other,
        shorter,
        &format!("{id}A"),
        &id.to_lowercase(),
        "",
        "MARK",
        "*",
        "\u{1}",
        "%00",
    ] {
        for method in ["POST", "GET", "DELETE"] {
            let post = list.clone().with("mcp-session-id", guess).method(method);
            let response = ask(attacked.address, &post).await;
            let refused = matches!(statuses(&response)[..], [400 | 404]);
            assert!(refused, "SRV-LHTTP-19: {guess:?}: {response}");
            assert!(
                !response.contains("MARK"),
                "the input is not repeated: {response}"
            );
            if guess.len() > 10 {
                let (_, body) = response.split_once("\r\n\r\n").unwrap();
                responses.push(body.to_owned());
            }
        }
    }
    responses.dedup();
    assert_eq!(
        responses.len(),
        1,
        "the responses do not distinguish guesses: {responses:?}"
    );
    // A client cannot choose the id of its session.
    let fixed = initialize().with("mcp-session-id", "MARK");
    let response = ask(attacked.address, &fixed).await;
    assert_eq!((statuses(&response), id_of(&response)), (vec![404], None));
    let twice = list.clone().and("mcp-session-id", &other);
    assert_eq!(statuses(&session.ask(&twice).await), [400]);
    assert_eq!(
        statuses(&session.ask(&list).await),
        [200],
        "the session still exists"
    );
    good.finish().await;
}

#[tokio::test]
async fn unknown_event_ids_are_rejected() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let session = Session::start(attacked.address).await;
    let ids = [
        "",
        "1",
        "-",
        "1-",
        "-1",
        "1-1",
        "1-18446744073709551615",
        "1-18446744073709551616",
        "2-0",
        "0-0",
        "18446744073709551615-0",
        "1--1",
        "1-0-0",
        "x-y",
        "\u{7f}",
        "1-0x0",
    ];
    for id in ids {
        let get = session.get().with("last-event-id", id);
        let response = session.ask(&get).await;
        assert_eq!(
            statuses(&response),
            [400],
            "SRV-LHTTP-15: {id:?}: {response}"
        );
    }
    let twice = session
        .get()
        .and("last-event-id", "1-0")
        .and("last-event-id", "1-0");
    assert_eq!(statuses(&session.ask(&twice).await), [400]);
    good.finish().await;
}
