//! A server that is a script: what it says to each message is up to the test.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use treenail::client::{ClientLimits, LineSession};
use treenail::jsoncall::JsoncallSession;

/// What a script does with a message.
pub(crate) enum Say {
    /// It sends these lines, which need not be JSON.
    Lines(Vec<String>),
    /// It sends this, which need not be a whole line, and goes away.
    Leave(String),
}

impl Say {
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

/// The line that answers a message.
pub(crate) fn answer(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

/// What a server of the modern era says of itself.
pub(crate) fn discovered(message: &Value) -> Say {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}},
    });
    Say::result(message, &result)
}

/// What a server of the legacy era says in the handshake.
pub(crate) fn initialized(message: &Value, version: &str) -> Say {
    let result = json!({
        "protocolVersion": version, "capabilities": {"tools": {}},
        "serverInfo": {"name": "script", "version": "1"},
    });
    Say::result(message, &result)
}

/// What a script has been told, in order.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Value>>>);

impl Heard {
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        let method = |message: &Value| message["method"].as_str().unwrap_or("").to_owned();
        self.all().iter().map(method).collect()
    }
}

/// A session with a server that answers each message as `say` says, in messages of at most 4,000 bytes.
pub(crate) fn scripted(
    say: impl FnMut(&Value) -> Say + Send + 'static,
) -> (Arc<LineSession>, Heard) {
    let limits = ClientLimits::default().message_bytes(4_000);
    scripted_within(&limits, say)
}

/// As [`scripted`], over `jsoncall`.
pub(crate) fn scripted_over_jsoncall(
    say: impl FnMut(&Value) -> Say + Send + 'static,
) -> (Arc<JsoncallSession>, Heard) {
    let limits = ClientLimits::default().message_bytes(4_000);
    let (stream, heard) = server(say);
    let (reader, writer) = split(stream);
    let session = JsoncallSession::with_limits(reader, writer, &limits);
    (Arc::new(session), heard)
}

/// As [`scripted`], with other limits.
pub(crate) fn scripted_within(
    limits: &ClientLimits,
    say: impl FnMut(&Value) -> Say + Send + 'static,
) -> (Arc<LineSession>, Heard) {
    let (stream, heard) = server(say);
    let (reader, writer) = split(stream);
    let session = LineSession::with_limits(reader, writer, limits);
    (Arc::new(session), heard)
}

/// The stream to a server that answers each message as `say` says.
pub(crate) fn server(mut say: impl FnMut(&Value) -> Say + Send + 'static) -> (DuplexStream, Heard) {
    let (ours, theirs) = duplex(1 << 20);
    let heard = Heard::default();
    let listening = heard.clone();
    tokio::spawn(async move {
        let (reader, mut writer) = split(theirs);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("clients send JSON");
            listening.0.lock().unwrap().push(message.clone());
            let (text, leaves) = match say(&message) {
                Say::Lines(lines) if lines.is_empty() => continue,
                Say::Lines(lines) => (lines.join("\n") + "\n", false),
                Say::Leave(text) => (text, true),
            };
            if writer.write_all(text.as_bytes()).await.is_err() || leaves {
                return;
            }
        }
    });
    (ours, heard)
}
