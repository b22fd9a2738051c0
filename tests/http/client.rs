//! Requests to a service in memory, and what came of them.

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
use treenail::{HttpBody, HttpService, Principal};

pub(crate) const MODERN: &str = "2026-07-28";

/// A body that is there already.
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

/// A body that comes in pieces, without an end.
pub(crate) struct Chunks {
    chunk: Option<Bytes>,
    length: u64,
    taken: Arc<AtomicUsize>,
}

impl Chunks {
    /// One piece after the other, and how many were taken.
    pub(crate) fn endless(chunk: Vec<u8>) -> (Self, Arc<AtomicUsize>) {
        let taken = Arc::<AtomicUsize>::default();
        let chunks = Self {
            chunk: Some(chunk.into()),
            length: 0,
            taken: Arc::clone(&taken),
        };
        (chunks, taken)
    }

    /// Not one piece.
    pub(crate) fn silent() -> Self {
        Self {
            chunk: None,
            length: 0,
            taken: Arc::default(),
        }
    }

    /// The same, of a length that was told.
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

/// A request that has not been sent yet.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
}

/// What has come back, as far as it has ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Post {
    /// A request with nothing but what HTTP itself asks for.
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

    /// A request of the modern era as it should be.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        Self::modern_as(method, params, &json!({}))
    }

    /// The same, of a client that can do something.
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

    /// The same with a header, in place of one of that name.
    pub(crate) fn with(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).and(name, value)
    }

    /// The same with one more header.
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

    /// The same to another path, which may have a query.
    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The same with something else in its body.
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

    /// Sends it, and waits for the head of the response.
    pub(crate) async fn begin(self, service: &HttpService) -> Response<HttpBody> {
        let Ok(response) = service.clone().call(self.request()).await;
        response
    }

    /// Sends it, and waits for the whole response.
    pub(crate) async fn send(self, service: &HttpService) -> Answer {
        Answer::read(self.begin(service).await).await
    }

    /// Sends it as if a layer had found out who is calling.
    pub(crate) async fn send_as(self, service: &HttpService, principal: Principal) -> Answer {
        let mut request = self.request();
        request.extensions_mut().insert(principal);
        let Ok(response) = service.clone().call(request).await;
        Answer::read(response).await
    }

    /// Sends it with another body.
    pub(crate) async fn send_with(self, service: &HttpService, body: Chunks) -> Answer {
        let request = self.request().map(|_| body);
        let Ok(response) = service.clone().call(request).await;
        Answer::read(response).await
    }

    /// Sends it, and fails unless it is refused with this status and code.
    pub(crate) async fn refused(self, service: &HttpService, status: u16, code: i64, why: &str) {
        let answer = self.send(service).await;
        assert_eq!(answer.status, status, "{why}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], code, "{why}: {answer:?}");
    }
}

impl Answer {
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

    /// Fails unless the message was taken over, and nothing said to it.
    pub(crate) fn is_accepted(&self, why: &str) {
        assert_eq!((self.status.as_u16(), &*self.body), (202, ""), "{why}");
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The JSON that the body consists of.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "SRV-HTTP-08: {self:?}"
        );
        serde_json::from_str(&self.body).unwrap()
    }

    /// The messages of the stream that the body consists of.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(
            self.header("content-type"),
            Some("text/event-stream"),
            "SRV-HTTP-08: {self:?}"
        );
        messages(&self.body)
    }
}

/// The next piece of a body.
pub(crate) async fn next(body: &mut HttpBody) -> Option<Bytes> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    let Ok(frame) = frame;
    Some(frame.into_data().unwrap())
}

/// The messages in some events.
pub(crate) fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
