//! A server over `jsoncall`, and a peer that exchanges lines with it.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use treenail::Limits;
use treenail::jsoncall;
use treenail::prelude::*;

/// Peer that exchanges lines with a server.
pub(super) struct Peer {
    pub(super) lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(super) writer: WriteHalf<DuplexStream>,
    pub(super) task: tokio::task::JoinHandle<()>,
}

impl Peer {
    pub(super) async fn initialized() -> Self {
        Self::with_limits(Limits::default().message_bytes(10_000)).await
    }

    /// As [`Peer::initialized`], with custom limits of the server.
    pub(super) async fn with_limits(limits: Limits) -> Self {
        let mut peer = Self::connected(limits);
        peer.send(&hello()).await;
        assert_eq!(peer.receive().await.unwrap()["id"], "hello");
        peer.send(INITIALIZED).await;
        peer
    }

    /// Connects a peer that has not sent anything.
    pub(super) fn connected(limits: Limits) -> Self {
        let builder = Server::builder("fragile", "1").mount(Fragile);
        let server = builder.limits(limits).build().unwrap();
        let (ours, theirs) = duplex(1 << 16);
        let task = tokio::spawn(async move {
            let (reader, writer) = split(theirs);
            jsoncall::serve(&server, reader, writer).await.unwrap();
        });
        let (reader, writer) = split(ours);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            task,
        }
    }

    pub(super) async fn send(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    pub(super) async fn receive(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Checks that the server still responds.
    pub(super) async fn ping(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":"alive?","method":"ping"}"#)
            .await;
        while self.receive().await.unwrap()["id"] != "alive?" {}
    }
}

pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Returns the first request of a peer.
pub(super) fn hello() -> String {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "peer", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}).to_string()
}

#[mcp_form]
struct Guest {
    #[allow(dead_code, reason = "no answer is read")]
    name: String,
}

struct Fragile;

#[mcp_tool]
impl Fragile {
    #[tool]
    #[allow(clippy::unused_self, reason = "a tool of a type takes it")]
    fn panic(&self) -> String {
        panic!("as planned")
    }

    #[tool]
    async fn slow(&self, number: u32) -> u32 {
        tokio::time::sleep(Duration::from_millis(u64::from(number) % 7)).await;
        number
    }

    #[tool]
    async fn ask(&self, cx: &Context) -> Result<String, AskError> {
        cx.elicit::<Guest>("Who is coming?").await?;
        Ok("somebody".to_owned())
    }

    /// Asks, and drops the question at once.
    #[tool]
    async fn give_up(&self, cx: &Context) -> String {
        let mut question = pin!(cx.elicit::<Guest>("Who is coming?").into_future());
        poll_fn(|context| Poll::Ready(question.as_mut().poll(context).is_ready())).await;
        "done".to_owned()
    }
}

pub(super) fn call(id: u32, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}
