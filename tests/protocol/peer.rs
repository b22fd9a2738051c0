//! The client's end of an in-memory connection, which writes and reads messages as text.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use treenail::Server;
use treenail::schema::Revision;

use crate::validator::{validate, validate_notification};

pub(crate) const MODERN: Revision = Revision::LATEST;

pub(crate) struct Peer {
    pub(crate) revision: Revision,
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    server: JoinHandle<treenail::Result<()>>,
    last_id: i64,
}

impl Peer {
    /// Connects without a word; what is received is validated against `revision`.
    pub(crate) fn silent(server: &Server, revision: Revision) -> Self {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(here);
        let server = server.clone();
        let server = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(there);
            server.serve(reader, writer).await
        });
        Self {
            revision,
            reader: BufReader::new(reader),
            writer: Some(writer),
            server,
            last_id: 0,
        }
    }

    /// Connects and, in the legacy era, goes through the handshake.
    pub(crate) async fn connect(server: &Server, revision: Revision) -> Self {
        let mut peer = Self::silent(server, revision);
        if !revision.is_modern() {
            let answer = peer
                .request("initialize", initialize(revision.as_str()))
                .await;
            assert_eq!(answer["result"]["protocolVersion"], revision.as_str());
            peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                .await;
        }
        peer
    }

    /// Sends a request with the `_meta` that the revision asks for, and takes the answer to it.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.receive(method).await;
        assert_eq!(answer["id"], id, "SRV-BASE-01: {answer}");
        answer
    }

    /// Sends a request without waiting.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        if self.revision.is_modern() {
            for (key, value) in meta(self.revision.as_str()) {
                params["_meta"][key] = value;
            }
        }
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}),
        )
        .await;
        self.last_id
    }

    /// Calls a tool and returns the result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut answer = self
            .request("tools/call", json!({"name": name, "arguments": arguments}))
            .await;
        assert!(answer.get("result").is_some(), "{name}: {answer}");
        answer["result"].take()
    }

    /// Sends a request, and takes the notifications that come before the answer, and the answer.
    pub(crate) async fn request_told(
        &mut self,
        method: &str,
        params: Value,
    ) -> (Vec<Value>, Value) {
        self.begin(method, params).await;
        let mut notifications = Vec::new();
        loop {
            let message = self
                .receive_any()
                .await
                .expect("the server has closed its output");
            if message.get("id").is_some() {
                validate(self.revision, method, &message);
                return (notifications, message);
            }
            validate_notification(self.revision, &message);
            notifications.push(message);
        }
    }

    /// Takes the next message, which is a notification: its method and params.
    pub(crate) async fn told(&mut self) -> (String, Value) {
        let mut message = self
            .receive_any()
            .await
            .expect("the server has closed its output");
        validate_notification(self.revision, &message);
        assert!(message.get("id").is_none(), "not a notification: {message}");
        let method = message["method"].as_str().unwrap().to_owned();
        (method, message["params"].take())
    }

    /// Makes sure that the server has sent nothing that was not asked for.
    pub(crate) async fn told_nothing(&mut self) {
        self.request("tools/list", json!({})).await;
    }

    /// The error that the server answers a request with: its code and message.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        error(&self.request(method, params).await)
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer
            .as_mut()
            .expect("the input has been ended")
            .write_all(bytes)
            .await
            .unwrap();
    }

    /// Takes the next message, the answer to a request of `method`.
    pub(crate) async fn receive(&mut self, method: &str) -> Value {
        let message = self
            .receive_any()
            .await
            .expect("the server has closed its output");
        assert_eq!(message["jsonrpc"], "2.0", "ALL-BASE-01");
        validate(self.revision, method, &message);
        message
    }

    /// Takes the next line, or `None` at the end of the server's output.
    pub(crate) async fn receive_any(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        (!line.is_empty())
            .then(|| serde_json::from_str(&line).expect("ALL-STDIO-01: one JSON message a line"))
    }

    /// Ends the server's input.
    pub(crate) async fn end_input(&mut self) {
        self.writer.take().unwrap().shutdown().await.unwrap();
    }

    /// Ends the input, and waits until the server has stopped; returns what it still sent.
    pub(crate) async fn finish(mut self) -> Vec<Value> {
        if self.writer.is_some() {
            self.end_input().await;
        }
        let mut messages = Vec::new();
        while let Some(message) = self.receive_any().await {
            messages.push(message);
        }
        self.server.await.unwrap().unwrap();
        messages
    }
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

/// The members of `_meta` that each request of the modern era has.
pub(crate) fn meta(version: &str) -> [(&'static str, Value); 3] {
    [
        ("io.modelcontextprotocol/protocolVersion", version.into()),
        ("io.modelcontextprotocol/clientCapabilities", json!({})),
        (
            "io.modelcontextprotocol/clientInfo",
            json!({"name": "test", "version": "1"}),
        ),
    ]
}

pub(crate) fn error(answer: &Value) -> (i64, String) {
    let error = answer
        .get("error")
        .unwrap_or_else(|| panic!("not an error: {answer}"));
    (
        error["code"].as_i64().unwrap(),
        error["message"].as_str().unwrap().to_owned(),
    )
}

/// The text of the first block of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {result}"))
}
