//! HTTP session with a recorder for incoming messages.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use treenail::client::{
    ClientError, ClientLimits, HttpSession, HttpSessionBuilder, IncomingHandler, IncomingRequest,
    Responder, Session, SessionNotification, SessionRequest,
};
use treenail::http::ServeHttp as _;
use treenail::schema::Revision;
use treenail::{Server, ServerBuilder};

use crate::client::MODERN;

/// Incoming message that is not an answer.
#[derive(Debug)]
pub(crate) enum Incoming {
    Notification(String, Value),
    Request(String, Value, Responder),
    Missed,
    Closed,
}

struct Listener {
    incoming: UnboundedSender<Incoming>,
    /// Set if it answers requests at once, and does not record them.
    answers: bool,
}

impl Listener {
    fn record(&self, incoming: Incoming) {
        // The test may already be over.
        let _ = self.incoming.send(incoming);
    }
}

impl IncomingHandler for Listener {
    fn notification(&self, method: &str, params: &str) {
        let params = serde_json::from_str(params).unwrap();
        self.record(Incoming::Notification(method.to_owned(), params));
    }

    fn missed_notifications(&self) {
        self.record(Incoming::Missed);
    }

    fn request(&self, request: IncomingRequest<'_>) {
        if self.answers {
            return request.responder.respond(Ok("{}".to_owned()));
        }
        let params = serde_json::from_str(request.params).unwrap();
        let method = request.method.to_owned();
        self.record(Incoming::Request(method, params, request.responder));
    }

    fn closed(&self) {
        self.record(Incoming::Closed);
    }
}

/// HTTP session with a recorder for incoming messages.
pub(crate) struct TestSession {
    pub(crate) session: Arc<HttpSession>,
    incoming: UnboundedReceiver<Incoming>,
}

impl TestSession {
    pub(crate) fn connect(url: &str) -> Self {
        Self::from_builder(HttpSession::builder(url))
    }

    pub(crate) fn with_limits(url: &str, limits: ClientLimits) -> Self {
        Self::from_builder(HttpSession::builder(url).limits(limits))
    }

    /// Session that answers all requests of the server at once.
    pub(crate) fn answering(url: &str, limits: ClientLimits) -> Self {
        Self::listening(HttpSession::builder(url).limits(limits), true)
    }

    pub(crate) fn from_builder(builder: HttpSessionBuilder) -> Self {
        Self::listening(builder, false)
    }

    fn listening(builder: HttpSessionBuilder, answers: bool) -> Self {
        let session = Arc::new(builder.build().unwrap());
        let (sender, receiver) = unbounded_channel();
        session.listen(Arc::new(Listener {
            incoming: sender,
            answers,
        }));
        Self {
            session,
            incoming: receiver,
        }
    }

    /// Legacy session after its handshake.
    pub(crate) async fn legacy(url: &str) -> Self {
        let client = Self::connect(url);
        client.initialize().await.unwrap();
        client.initialized().await.unwrap();
        client
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

    /// Sends a request in a separate task.
    pub(crate) fn spawn(&self, request: SessionRequest) -> JoinHandle<Result<String, ClientError>> {
        let session = Arc::clone(&self.session);
        tokio::spawn(async move { session.request(request).await })
    }

    pub(crate) async fn next_incoming(&mut self) -> Incoming {
        self.incoming.recv().await.unwrap()
    }

    /// Returns true if no other message has arrived so far.
    pub(crate) fn has_no_incoming(&mut self) -> bool {
        self.incoming.try_recv().is_err()
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

/// Modern request.
pub(crate) fn modern(id: i64, method: &'static str, mut params: Value) -> SessionRequest {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let mut request = SessionRequest::new(id, method, params.to_string());
    request.revision = Some(Revision::LATEST);
    request
}

/// Legacy request.
pub(crate) fn legacy(id: i64, method: &'static str, params: &Value) -> SessionRequest {
    let mut request = SessionRequest::new(id, method, params.to_string());
    request.revision = Some(Revision::LATEST_LEGACY);
    request
}

pub(crate) fn tool(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// Serves our own server over HTTP, and returns its URL.
pub(crate) async fn serve(builder: ServerBuilder) -> (Server, String) {
    let server = builder.build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    (server, url)
}
