//! Requests to a service in memory, and their responses.

mod bodies;
mod response;

use http::{Request, Response};
use serde_json::{Value, json};
use tower_service::Service;
use treenail::http::{HttpBody, HttpService};

pub(crate) use self::bodies::Chunks;
use self::bodies::Text;
pub(crate) use self::response::{CompleteResponse, messages, next};

pub(crate) const MODERN: &str = "2026-07-28";

/// Request to be sent.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
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
