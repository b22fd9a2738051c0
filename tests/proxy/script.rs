//! Scripted servers: the test determines every line that a server behind a proxy sends. Each message of the proxy is validated against
//! the schema of its revision.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::sync::mpsc;
use treenail::McpClient;
use treenail::client::{
    ClientError, ClientLimits, LineSession, McpClientBuilder, Session, SessionFuture,
    SessionRequest, SessionWrapper,
};
use treenail::proxy::Remote;
use treenail::schema::Revision;

use crate::sent::SentMessages;

/// Connection to a scripted server, from the view of the server.
#[derive(Clone)]
pub(crate) struct Line {
    lines: mpsc::UnboundedSender<String>,
    sent: Arc<Mutex<SentMessages>>,
}

impl Line {
    pub(crate) fn send(&self, message: &Value) {
        self.send_text(message.to_string());
    }

    /// Sends a line, which need not be JSON.
    pub(crate) fn send_text(&self, line: String) {
        self.sent.lock().unwrap().record(&line);
        // The connection may be gone.
        let _ = self.lines.send(line);
    }

    pub(crate) fn answer(&self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }
}

/// Reaction of a script to a message; `false` ends the connection.
type React = dyn FnMut(&Value, &Line) -> bool + Send;

/// Server of the newest legacy revision with these tools. `react` handles everything but the handshake and lists.
pub(crate) fn legacy_server(
    tools: &Value,
    react: impl FnMut(&Value, &Line) -> bool + Send + 'static,
) -> Remote {
    server_of(Revision::V2025_11_25, tools, react)
}

/// Server of this revision, like [`legacy_server`].
pub(crate) fn server_of(
    revision: Revision,
    tools: &Value,
    react: impl FnMut(&Value, &Line) -> bool + Send + 'static,
) -> Remote {
    let (tools, react) = (tools.clone(), Arc::new(Mutex::new(react)));
    Remote::new("script", move || {
        let (tools, react) = (tools.clone(), Arc::clone(&react));
        let reply = move |message: &Value, line: &Line| {
            match message["method"].as_str() {
                Some("initialize") => line.answer(
                    message,
                    &json!({
                        "protocolVersion": revision.as_str(),
                        "capabilities": {"tools": {"listChanged": true}, "logging": {}},
                        "serverInfo": {"name": "script", "version": "1"},
                    }),
                ),
                Some("tools/list") => line.answer(message, &json!({"tools": tools})),
                Some("ping" | "logging/setLevel") => line.answer(message, &json!({})),
                _ => return (react.lock().unwrap())(message, line),
            }
            true
        };
        scripted(Box::new(reply), &ClientLimits::default()).protocol_version(revision)
    })
}

/// Builder of a client of a server that reacts to every message with `react`.
pub(crate) fn scripted(react: Box<React>, limits: &ClientLimits) -> McpClientBuilder {
    let stream = server(react);
    let (reader, writer) = split(stream);
    let session = Arc::new(LineSession::with_limits(reader, writer, limits));
    McpClient::builder().session(session).limits(limits.clone())
}

fn server(mut react: Box<React>) -> DuplexStream {
    let (ours, theirs) = duplex(1 << 20);
    let (reader, mut writer) = split(theirs);
    let (lines, mut outgoing) = mpsc::unbounded_channel::<String>();
    let writing = tokio::spawn(async move {
        while let Some(line) = outgoing.recv().await {
            if writer.write_all((line + "\n").as_bytes()).await.is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        let sent = Arc::<Mutex<SentMessages>>::default();
        let line = Line { lines, sent };
        let mut incoming = BufReader::new(reader).lines();
        while let Ok(Some(text)) = incoming.next_line().await {
            let message: Value = serde_json::from_str(&text).expect("clients send JSON");
            line.sent.lock().unwrap().check(&message);
            if !react(&message, &line) {
                writing.abort();
                return;
            }
        }
    });
    ours
}

/// Session whose server ends it when the flag is set, as over HTTP: requests fail until the next handshake.
#[derive(Debug)]
pub(crate) struct ExpiringSession {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) expired: Arc<AtomicBool>,
}

impl SessionWrapper for ExpiringSession {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        if request.method == "initialize" {
            self.expired.store(false, Ordering::SeqCst);
        } else if self.expired.load(Ordering::SeqCst) {
            return Box::pin(async { Err(ClientError::SessionExpired) });
        }
        self.session.request(request)
    }
}

/// A list of tools without arguments.
pub(crate) fn tools(names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect()
}

/// The result of a tool with this text.
pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}
