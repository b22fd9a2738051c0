//! Requests to a service in memory, and their responses.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use serde_json::{Value, json};
use tower_service::Service;
use treenail::http::{HttpBody, HttpService};

pub(crate) const MODERN: &str = "2026-07-28";

/// Body that is complete.
pub(crate) struct Text(Option<Bytes>);

impl Body for Text {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Endless body in chunks.
pub(crate) struct Chunks {
    chunk: Option<Bytes>,
    length: u64,
    taken: Arc<AtomicUsize>,
}

impl Chunks {
    /// Creates an endless body, and a counter of the chunks that were read.
    pub(crate) fn endless(chunk: Vec<u8>) -> (Self, Arc<AtomicUsize>) {
        let taken = Arc::<AtomicUsize>::default();
        let chunks = Self {
            chunk: Some(chunk.into()),
            length: 0,
            taken: Arc::clone(&taken),
        };
        (chunks, taken)
    }

    /// Creates a body that never produces a chunk.
    pub(crate) fn silent() -> Self {
        Self {
            chunk: None,
            length: 0,
            taken: Arc::default(),
        }
    }

    /// Declares a length.
    pub(crate) fn of_length(mut self, length: u64) -> Self {
        self.length = length;
        self
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(chunk) = &self.chunk else {
            return Poll::Pending;
        };
        self.taken.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(chunk.clone()))))
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::default();
        hint.set_lower(self.length);
        hint
    }
}

/// Request to be sent.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
}

/// Complete response.
#[derive(Debug)]
pub(crate) struct CompleteResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Post {
    /// Creates a request with only the headers that HTTP requires.
    pub(crate) fn raw(body: impl Into<String>) -> Self {
        let post = Self {
            headers: Vec::new(),
            body: body.into(),
            method: "POST",
            path: "/mcp".to_owned(),
        };
        post.with("host", "localhost")
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
    }

    /// Creates a valid request of the modern era.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        Self::modern_as(method, params, &json!({}))
    }

    /// Creates a valid request of a client with capabilities.
    pub(crate) fn modern_as(method: &str, mut params: Value, capabilities: &Value) -> Self {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        let name = name.map(str::to_owned);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let post = Self::raw(body.to_string())
            .with("mcp-protocol-version", MODERN)
            .with("mcp-method", method);
        match name {
            Some(name) => post.with("mcp-name", &name),
            None => post,
        }
    }

    pub(crate) fn tool(name: &str, arguments: Value) -> Self {
        let mut params = json!({"name": name});
        params["arguments"] = arguments;
        Self::modern("tools/call", params)
    }

    /// Sets a header, replacing one of the same name.
    pub(crate) fn with(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).and(name, value)
    }

    /// Appends a header.
    pub(crate) fn and(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    /// Sets the path, which may have a query.
    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Modifies the body.
    pub(crate) fn change(mut self, change: impl FnOnce(&mut Value)) -> Self {
        let mut body = serde_json::from_str(&self.body).unwrap();
        change(&mut body);
        self.body = body.to_string();
        self
    }

    fn request(self) -> Request<Text> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in &self.headers {
            request = request.header(name, &value[..]);
        }
        let body = (!self.body.is_empty()).then(|| self.body.into());
        request.body(Text(body)).unwrap()
    }

    /// Sends the request, and waits for the head of the response.
    pub(crate) async fn begin(self, service: &HttpService) -> Response<HttpBody> {
        let Ok(response) = service.clone().call(self.request()).await;
        response
    }

    /// Sends the request, and waits for the complete response.
    pub(crate) async fn send(self, service: &HttpService) -> CompleteResponse {
        CompleteResponse::read(self.begin(service).await).await
    }

    /// Sends the request with a principal, as an authentication layer would add it.
    pub(crate) async fn send_as(
        self,
        service: &HttpService,
        caller: impl Clone + Send + Sync + 'static,
    ) -> CompleteResponse {
        CompleteResponse::read(self.begin_as(service, caller).await).await
    }

    /// As [`Post::send_as`], but waits for the head of the response only.
    pub(crate) async fn begin_as(
        self,
        service: &HttpService,
        caller: impl Clone + Send + Sync + 'static,
    ) -> Response<HttpBody> {
        let mut request = self.request();
        request.extensions_mut().insert(caller);
        let Ok(response) = service.clone().call(request).await;
        response
    }

    /// Sends the request with another body.
    pub(crate) async fn send_with(self, service: &HttpService, body: Chunks) -> CompleteResponse {
        let request = self.request().map(|_| body);
        let Ok(response) = service.clone().call(request).await;
        CompleteResponse::read(response).await
    }

    /// Sends the request, and fails unless it is rejected with this status and code.
    pub(crate) async fn expect_rejected(
        self,
        service: &HttpService,
        status: u16,
        code: i64,
        description: &str,
    ) {
        let response = self.send(service).await;
        assert_eq!(response.status, status, "{description}: {response:?}");
        assert_eq!(
            response.json()["error"]["code"],
            code,
            "{description}: {response:?}"
        );
    }
}

impl CompleteResponse {
    async fn read(response: Response<HttpBody>) -> Self {
        let (head, mut body) = response.into_parts();
        let mut bytes = BytesMut::new();
        while let Some(data) = next(&mut body).await {
            bytes.extend_from_slice(&data);
        }
        Self {
            status: head.status,
            headers: head.headers,
            body: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Fails unless the message was accepted without a response body.
    pub(crate) fn expect_accepted(&self, description: &str) {
        assert_eq!(
            (self.status.as_u16(), &*self.body),
            (202, ""),
            "{description}"
        );
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Returns the body as JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "SRV-HTTP-08: {self:?}"
        );
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(
            self.header("content-type"),
            Some("text/event-stream"),
            "SRV-HTTP-08: {self:?}"
        );
        messages(&self.body)
    }
}

/// Returns the next frame of a body.
pub(crate) async fn next(body: &mut HttpBody) -> Option<Bytes> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    let Ok(frame) = frame;
    Some(frame.into_data().unwrap())
}

/// Returns the messages in a text of events.
pub(crate) fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
