//! Clients of the HTTP+SSE transport of revision 2024-11-05.

mod bounds;
mod messages;
mod paths;
mod sockets;

use std::collections::VecDeque;

use http::Response;
use serde_json::{Value, json};
use treenail::Limits;
use treenail::http::{HttpBody, HttpService, SsePaths, http_service};
use treenail::schema::Revision;

use crate::client::{CompleteResponse, Post, next};
use crate::fixture::{Desk, builder, builder_of};

const SERVED: [Revision; 4] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
];

fn service() -> HttpService {
    service_within(Limits::default())
}

fn service_within(limits: Limits) -> HttpService {
    http_service(builder().limits(limits).build().unwrap()).legacy_sse(SsePaths::default())
}

fn service_of(desk: &Desk) -> HttpService {
    http_service(builder_of(desk).build().unwrap()).legacy_sse(SsePaths::default())
}

fn get() -> Post {
    Post::raw("")
        .method("GET")
        .at("/sse")
        .with("accept", "text/event-stream")
        .without("content-type")
}

/// Returns the notification that ends the handshake.
fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Client with its stream.
struct Client {
    service: HttpService,
    endpoint: String,
    stream: Option<Stream>,
}

/// Event stream with its buffered text.
struct Stream {
    body: HttpBody,
    read: VecDeque<(String, String)>,
}

impl Stream {
    fn new(response: Response<HttpBody>) -> Self {
        assert_eq!(response.status(), 200, "SRV-SSE-01");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body(),
            read: VecDeque::new(),
        }
    }

    /// Returns name and data of the next event, or `None` at the end.
    async fn event(&mut self) -> Option<(String, String)> {
        while self.read.is_empty() {
            let bytes = next(&mut self.body).await?;
            let text = std::str::from_utf8(&bytes).unwrap();
            for event in text.split_terminator("\n\n") {
                if event == ":" {
                    continue;
                }
                let (name, data) = event.split_once('\n').unwrap();
                let name = name.strip_prefix("event: ").unwrap().to_owned();
                let data = data.strip_prefix("data: ").unwrap().to_owned();
                self.read.push_back((name, data));
            }
        }
        self.read.pop_front()
    }

    async fn message(&mut self) -> Value {
        let (name, data) = self.event().await.unwrap();
        assert_eq!(name, "message", "SRV-SSE-03");
        serde_json::from_str(&data).unwrap()
    }
}

impl Client {
    /// Opens the stream.
    async fn open(service: &HttpService) -> Self {
        let mut stream = Stream::new(get().begin(service).await);
        let (name, endpoint) = stream.event().await.unwrap();
        assert_eq!(name, "endpoint", "SRV-SSE-02");
        Self {
            service: service.clone(),
            endpoint,
            stream: Some(stream),
        }
    }

    /// Opens the stream and performs the handshake.
    async fn start(service: &HttpService, revision: Revision) -> Self {
        let mut client = Self::open(service).await;
        client.initialize(revision).await;
        let initialized = client.send(&initialized()).await;
        initialized.expect_accepted("SRV-SSE-03");
        client
    }

    /// Performs the handshake without its end.
    async fn initialize(&mut self, revision: Revision) {
        let params = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "1"},
        });
        self.call(0, "initialize", &params).await;
        let response = self.stream().message().await;
        assert_eq!(response["result"]["protocolVersion"], revision.as_str());
    }

    fn stream(&mut self) -> &mut Stream {
        self.stream.as_mut().unwrap()
    }

    /// Takes the stream out of the client.
    fn take_stream(&mut self) -> Stream {
        self.stream.take().unwrap()
    }

    /// Returns a POST as old clients send it: only with the headers that HTTP requires.
    fn post(&self, message: &Value) -> Post {
        Post::raw(message.to_string())
            .at(&self.endpoint)
            .without("accept")
    }

    async fn send(&self, message: &Value) -> CompleteResponse {
        self.post(message).send(&self.service).await
    }

    /// Sends a request, whose response is sent on the stream.
    async fn call(&self, id: i64, method: &str, params: &Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request).await.expect_accepted("SRV-SSE-03");
    }

    async fn tool(&self, id: i64, name: &str, arguments: &Value) {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 7}});
        self.call(id, "tools/call", &params).await;
    }

    async fn ping(&self) -> CompleteResponse {
        self.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}))
            .await
    }
}
