//! Scripted server: the test determines the reply to each message. Each message of the client is validated against the schema of its
//! revision.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use treenail::client::{ClientLimits, LineSession};
use treenail::jsoncall::JsoncallSession;

use crate::sent::SentMessages;

/// Reaction of a script to a message.
pub(crate) enum Reply {
    /// Sends these lines, which need not be JSON.
    Lines(Vec<String>),
    /// Sends this text, which need not be a complete line, and exits.
    Exit(String),
}

impl Reply {
    pub(crate) fn nothing() -> Self {
        Self::Lines(Vec::new())
    }

    pub(crate) fn result(message: &Value, result: &Value) -> Self {
        Self::Lines(vec![answer(message, result)])
    }

    pub(crate) fn error(message: &Value, error: &Value) -> Self {
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
        Self::Lines(vec![answer.to_string()])
    }
}

/// Returns the response to a message as a line.
pub(crate) fn answer(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

/// Reply of a modern server to `server/discover`.
pub(crate) fn discovered(message: &Value) -> Reply {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}},
    });
    Reply::result(message, &result)
}

/// Reply of a legacy server to `initialize`.
pub(crate) fn initialized(message: &Value, version: &str) -> Reply {
    let result = json!({
        "protocolVersion": version, "capabilities": {"tools": {}},
        "serverInfo": {"name": "script", "version": "1"},
    });
    Reply::result(message, &result)
}

/// Messages that a script has received, in order.
#[derive(Clone, Default)]
pub(crate) struct Received(Arc<Mutex<Vec<Value>>>);

impl Received {
    /// Validates a message after recording it. If it is not valid, the script ends, and the record cannot be read any more.
    fn push(&self, message: &Value, sent: &mut SentMessages) {
        let mut messages = self.0.lock().unwrap();
        messages.push(message.clone());
        sent.check(message);
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        let method = |message: &Value| message["method"].as_str().unwrap_or("").to_owned();
        self.all().iter().map(method).collect()
    }
}

/// Creates a session with a server that answers with `reply`, and limits messages to 4,000 bytes.
pub(crate) fn scripted(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (Arc<LineSession>, Received) {
    let limits = ClientLimits::default().message_bytes(4_000);
    scripted_with_limits(&limits, reply)
}

/// Creates a session like [`scripted`], over `jsoncall`.
pub(crate) fn scripted_over_jsoncall(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (Arc<JsoncallSession>, Received) {
    let limits = ClientLimits::default().message_bytes(4_000);
    let (stream, received) = server(reply);
    let (reader, writer) = split(stream);
    let session = JsoncallSession::with_limits(reader, writer, &limits);
    (Arc::new(session), received)
}

/// Creates a session like [`scripted`], with other limits.
pub(crate) fn scripted_with_limits(
    limits: &ClientLimits,
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (Arc<LineSession>, Received) {
    let (stream, received) = server(reply);
    let (reader, writer) = split(stream);
    let session = LineSession::with_limits(reader, writer, limits);
    (Arc::new(session), received)
}

/// Returns the stream to a server that answers with `reply`.
pub(crate) fn server(
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (DuplexStream, Received) {
    let (ours, theirs) = duplex(1 << 20);
    let received = Received::default();
    let log = received.clone();
    tokio::spawn(async move {
        let (reader, mut writer) = split(theirs);
        let mut lines = BufReader::new(reader).lines();
        let mut sent = SentMessages::default();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("clients send JSON");
            log.push(&message, &mut sent);
            let (text, exits) = match reply(&message) {
                Reply::Lines(lines) if lines.is_empty() => continue,
                Reply::Lines(lines) => (lines.join("\n") + "\n", false),
                Reply::Exit(text) => (text, true),
            };
            text.lines().for_each(|line| sent.record(line));
            if writer.write_all(text.as_bytes()).await.is_err() || exits {
                return;
            }
        }
    });
    (ours, received)
}
