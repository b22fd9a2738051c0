//! Peers of a server in memory, on virtual time.

use std::future::{Future, poll_fn};
use std::task::Poll;

use serde_json::{Value, json};
use treenail::Server;
use treenail::context::Principal;
use treenail::transport::{Connection, Handled};

/// Runs a future to its end. Its timers elapse at once.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime
        .expect("the runtime needs no system calls")
        .block_on(future)
}

/// Client of a server that sends one request after the other.
pub(crate) struct Peer {
    connection: Connection,
    is_modern: bool,
    capabilities: Value,
}

impl Peer {
    /// Connects a client of the modern era.
    pub(crate) fn modern(server: &Server, capabilities: Value) -> Self {
        Self {
            connection: server.connect(),
            is_modern: true,
            capabilities,
        }
    }

    /// Connects a client of a legacy revision.
    pub(crate) async fn legacy(server: &Server, version: &str, capabilities: Value) -> Self {
        let mut peer = Self {
            is_modern: false,
            ..Self::modern(server, capabilities.clone())
        };
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "fuzz", "version": "1"},
        });
        let answer = peer.request("initialize", &params.to_string()).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        peer.connection.handle_message(initialized, &mut Vec::new());
        peer
    }

    /// Sets the identity of the caller.
    pub(crate) fn with_principal(mut self, name: &str) -> Self {
        self.connection
            .extensions_mut()
            .insert(Principal::new(name));
        self
    }

    /// Sends a request whose parameters are a text, which may be anything, and returns the response.
    /// That to a subscription is `null`, because it ends with the subscription.
    pub(crate) async fn request(&mut self, method: &str, params: &str) -> Value {
        let is_subscription = method == "subscriptions/listen";
        let method = json!(method);
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method},"params":{params}}}"#);
        let answer = self.send(message.as_bytes()).await;
        if is_subscription && answer.is_none() {
            return Value::Null;
        }
        let answer = answer.expect("a request has a response");
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        let has_one = answer.get("result").is_some() != answer.get("error").is_some();
        assert!(has_one, "{answer}");
        answer
    }

    /// Sends a request of the modern era: the text has the members of its parameters, and `_meta` is added.
    pub(crate) async fn modern_request(&mut self, method: &str, members: &str) -> Value {
        assert!(self.is_modern);
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
        });
        let params = format!(r#"{{"_meta":{meta},{members}}}"#);
        self.request(method, &params).await
    }

    /// Sends one message, and returns its response, if it has one.
    pub(crate) async fn send(&mut self, message: &[u8]) -> Option<Value> {
        let mut out = Vec::new();
        if let Handled::Pending(mut pending) = self.connection.handle_message(message, &mut out) {
            out = poll_fn(|context| {
                while self.connection.poll_outgoing(context).is_ready() {}
                std::pin::Pin::new(&mut pending).poll(context)
            })
            .await;
        }
        while poll_fn(|context| Poll::Ready(self.connection.poll_outgoing(context).is_ready()))
            .await
        {}
        (!out.is_empty()).then(|| serde_json::from_slice(&out).expect("a response is JSON"))
    }
}

/// Returns the text of a result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}
