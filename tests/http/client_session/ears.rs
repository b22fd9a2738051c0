//! A session with a server, and what is heard in it.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use treenail::schema::Revision;
use treenail::{Server, ServerBuilder};
use treenail_runtime::client::{
    ClientError, ClientLimits, HttpSession, HttpSessionBuilder, IncomingHandler, IncomingRequest,
    Responder, Session, SessionNotification, SessionRequest,
};

use crate::client::MODERN;

/// What a server has sent of its own accord.
#[derive(Debug)]
pub(crate) enum Heard {
    Notification(String, Value),
    Request(String, Value, Responder),
    Closed,
}

struct Ears(UnboundedSender<Heard>);

impl Ears {
    fn tell(&self, heard: Heard) {
        // A test that is over does not listen any more.
        let _ = self.0.send(heard);
    }
}

impl IncomingHandler for Ears {
    fn notification(&self, method: &str, params: &str) {
        let params = serde_json::from_str(params).unwrap();
        self.tell(Heard::Notification(method.to_owned(), params));
    }

    fn request(&self, request: IncomingRequest<'_>) {
        let params = serde_json::from_str(request.params).unwrap();
        let method = request.method.to_owned();
        self.tell(Heard::Request(method, params, request.responder));
    }

    fn closed(&self) {
        self.tell(Heard::Closed);
    }
}

/// A session, and what is heard in it.
pub(crate) struct Dialog {
    pub(crate) session: Arc<HttpSession>,
    heard: UnboundedReceiver<Heard>,
}

impl Dialog {
    pub(crate) fn with(url: &str) -> Self {
        Self::of(HttpSession::builder(url))
    }

    pub(crate) fn within(url: &str, limits: ClientLimits) -> Self {
        Self::of(HttpSession::builder(url).limits(limits))
    }

    pub(crate) fn of(builder: HttpSessionBuilder) -> Self {
        let session = Arc::new(builder.build().unwrap());
        let (sender, heard) = unbounded_channel();
        session.listen(Arc::new(Ears(sender)));
        Self { session, heard }
    }

    /// A session of the legacy era that has had its handshake.
    pub(crate) async fn legacy(url: &str) -> Self {
        let dialog = Self::with(url);
        dialog.initialize().await.unwrap();
        dialog.initialized().await.unwrap();
        dialog
    }

    pub(crate) async fn initialize(&self) -> Result<Value, ClientError> {
        self.send(initialize()).await
    }

    pub(crate) async fn initialized(&self) -> Result<(), ClientError> {
        let mut notification =
            SessionNotification::new("notifications/initialized", "{}".to_owned());
        notification.revision = Some(Revision::LATEST_LEGACY);
        self.session.notify(notification).await
    }

    pub(crate) async fn send(&self, request: SessionRequest) -> Result<Value, ClientError> {
        let result = self.session.request(request).await?;
        Ok(serde_json::from_str(&result).unwrap())
    }

    /// Sends a request, and goes on.
    pub(crate) fn begin(&self, request: SessionRequest) -> JoinHandle<Result<String, ClientError>> {
        let session = Arc::clone(&self.session);
        tokio::spawn(async move { session.request(request).await })
    }

    pub(crate) async fn heard(&mut self) -> Heard {
        self.heard.recv().await.unwrap()
    }

    /// Whether nothing more has been heard so far.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.heard.try_recv().is_err()
    }
}

pub(crate) fn initialize() -> SessionRequest {
    let params = json!({
        "protocolVersion": Revision::LATEST_LEGACY,
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let mut request = SessionRequest::new(0, "initialize", params.to_string());
    request.cancellable = false;
    request
}

/// A request of the modern era.
pub(crate) fn modern(id: i64, method: &'static str, mut params: Value) -> SessionRequest {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let mut request = SessionRequest::new(id, method, params.to_string());
    request.revision = Some(Revision::LATEST);
    request
}

/// A request of the legacy era.
pub(crate) fn legacy(id: i64, method: &'static str, params: &Value) -> SessionRequest {
    let mut request = SessionRequest::new(id, method, params.to_string());
    request.revision = Some(Revision::LATEST_LEGACY);
    request
}

pub(crate) fn tool(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// A server of ours that listens, and its URL.
pub(crate) async fn serve(builder: ServerBuilder) -> (Server, String) {
    let server = builder.build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    (server, url)
}
