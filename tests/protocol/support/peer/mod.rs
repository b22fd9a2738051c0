//! The client end of an in-memory connection, which writes and reads messages as text.

mod requests;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use treenail::Server;
use treenail::schema::Revision;
use treenail::transport::Connection;

use crate::support::validator::validate;

pub(crate) const MODERN: Revision = Revision::LATEST;

pub(crate) struct Peer {
    pub(crate) revision: Revision,
    /// Declared client capabilities.
    pub(crate) capabilities: Value,
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    server: JoinHandle<treenail::Result<()>>,
    last_id: i64,
}

impl Peer {
    /// Connects without sending anything. Received messages are validated against `revision`.
    pub(crate) fn silent(server: &Server, revision: Revision) -> Self {
        Self::over(server.connect(), revision)
    }

    /// As [`Peer::silent`], with the identity of the connection.
    pub(crate) fn over(connection: Connection, revision: Revision) -> Self {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(here);
        let server = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(there);
            connection.serve(reader, writer).await
        });
        Self {
            revision,
            capabilities: json!({}),
            reader: BufReader::new(reader),
            writer: Some(writer),
            server,
            last_id: 0,
        }
    }

    /// Connects, including the handshake in the legacy era.
    pub(crate) async fn connect(server: &Server, revision: Revision) -> Self {
        Self::connect_as(server, revision, json!({})).await
    }

    /// As [`Peer::connect`], with client capabilities.
    pub(crate) async fn connect_as(
        server: &Server,
        revision: Revision,
        capabilities: Value,
    ) -> Self {
        let mut peer = Self::silent(server, revision);
        peer.capabilities = capabilities;
        if !revision.is_modern() {
            peer.shake_hands().await;
        }
        peer
    }

    /// Performs the handshake of the legacy era.
    pub(crate) async fn shake_hands(&mut self) {
        let mut params = initialize(self.revision.as_str());
        params["capabilities"] = self.capabilities.clone();
        let answer = self.request("initialize", params).await;
        assert_eq!(
            answer["result"]["protocolVersion"],
            self.revision.as_str(),
            "SRV-LIFE-01"
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
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

    /// Sends tool calls without waiting, and receives responses meanwhile.
    pub(crate) async fn flood(&mut self, lines: &[u8], answers: usize) -> Vec<Value> {
        let writer = self.writer.as_mut().expect("the input has been ended");
        let (reader, revision) = (&mut self.reader, self.revision);
        let read = async {
            let (mut found, mut line) = (Vec::new(), String::new());
            while found.len() < answers && reader.read_line(&mut line).await.unwrap() > 0 {
                let message = serde_json::from_str(&line).expect("ALL-STDIO-01");
                validate(revision, "tools/call", &message);
                found.push(message);
                line.clear();
            }
            found
        };
        let (written, found) = tokio::join!(writer.write_all(lines), read);
        written.unwrap();
        found
    }

    /// Disconnects abruptly and waits until the server has stopped.
    pub(crate) async fn vanish(self) {
        let Self {
            reader,
            writer,
            server,
            ..
        } = self;
        drop((reader, writer));
        server.await.unwrap().unwrap();
    }

    /// Receives the next message, which must be the response to a request of `method`.
    pub(crate) async fn receive(&mut self, method: &str) -> Value {
        let message = self
            .receive_any()
            .await
            .expect("the server has closed its output");
        assert_eq!(message["jsonrpc"], "2.0", "ALL-BASE-01");
        validate(self.revision, method, &message);
        message
    }

    /// Receives the next line, or `None` at the end of the server's output.
    pub(crate) async fn receive_any(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        (!line.is_empty())
            .then(|| serde_json::from_str(&line).expect("ALL-STDIO-01: one JSON message a line"))
    }

    /// Closes the server's input.
    pub(crate) async fn end_input(&mut self) {
        self.writer.take().unwrap().shutdown().await.unwrap();
    }

    /// Closes the input and waits until the server has stopped. Returns its remaining output.
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

/// Waits until nothing can progress: only then does a paused clock advance.
pub(crate) async fn at_rest() {
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

/// The `_meta` members that each request of the modern era requires.
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

/// Returns the text of the first block of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {result}"))
}
