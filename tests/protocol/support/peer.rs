//! The client end of an in-memory connection, which writes and reads messages as text.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use treenail::Server;
use treenail::schema::Revision;
use treenail::transport::Connection;

use crate::support::validator::{validate, validate_notification};

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

    /// Sends a request with the `_meta` that the revision requires, and receives the response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.receive(method).await;
        assert_eq!(answer["id"], id, "SRV-BASE-01: {answer}");
        answer
    }

    /// Sends a request without waiting for the response.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let message = self.message(&self.last_id.into(), method, params);
        self.send(&message).await;
        self.last_id
    }

    /// Creates a request with the `_meta` that the revision requires.
    pub(crate) fn message(&self, id: &Value, method: &str, mut params: Value) -> Value {
        if self.revision.is_modern() {
            for (key, value) in meta(self.revision.as_str()) {
                params["_meta"][key] = value;
            }
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// Cancels a request.
    pub(crate) async fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({"requestId": id.into()});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        )
        .await;
    }

    /// Calls a tool and returns the result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut answer = self
            .request("tools/call", json!({"name": name, "arguments": arguments}))
            .await;
        assert!(answer.get("result").is_some(), "{name}: {answer}");
        answer["result"].take()
    }

    /// Requests a prompt and returns the result.
    pub(crate) async fn prompt(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let mut answer = self.request("prompts/get", params).await;
        assert!(answer.get("result").is_some(), "{name}: {answer}");
        answer["result"].take()
    }

    /// Reads a resource and returns the result.
    pub(crate) async fn read(&mut self, uri: &str) -> Value {
        let mut answer = self.request("resources/read", json!({ "uri": uri })).await;
        assert!(answer.get("result").is_some(), "{uri}: {answer}");
        answer["result"].take()
    }

    /// Sends a request and receives the notifications before the response, and the response.
    pub(crate) async fn request_with_notifications(
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

    /// Receives the next message, which must be a notification, and returns its method and params.
    pub(crate) async fn next_notification(&mut self) -> (String, Value) {
        let mut message = self
            .receive_any()
            .await
            .expect("the server has closed its output");
        validate_notification(self.revision, &message);
        assert!(message.get("id").is_none(), "not a notification: {message}");
        let method = message["method"].as_str().unwrap().to_owned();
        (method, message["params"].take())
    }

    /// Checks that the server has sent nothing unsolicited.
    pub(crate) async fn told_nothing(&mut self) {
        self.request("tools/list", json!({})).await;
    }

    /// Sends an invalid request and returns the code and message of the error.
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
