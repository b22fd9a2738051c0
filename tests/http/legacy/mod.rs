//! Clients of the legacy era.

mod calls;
mod dropped;
pub(crate) mod first_poll;
mod idle;
pub(crate) mod observed;
mod polling;
mod sessionless;
mod sessions;
mod slow_readers;
mod streams;

use std::future::{Future, poll_fn};
use std::task::Poll;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use treenail::http::{HttpBody, HttpService};
use treenail::schema::Revision;

use crate::client::{CompleteResponse, Post, next};

const SERVED: [Revision; 3] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
];

/// Client with a session.
pub(crate) struct Client {
    service: HttpService,
    revision: Revision,
    pub(crate) session: String,
}

fn initialize(revision: Revision) -> Post {
    let params = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    Post::raw(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(),
    )
}

/// Returns the notification that ends the handshake.
fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

impl Client {
    pub(crate) async fn start(service: &HttpService, revision: Revision) -> Self {
        let client = Self::initialize(service, revision).await;
        client
            .send(client.post(&initialized()))
            .await
            .expect_accepted("SRV-LHTTP-02");
        client
    }

    /// Starts a session without the end of its handshake.
    async fn initialize(service: &HttpService, revision: Revision) -> Self {
        let response = initialize(revision).send(service).await;
        assert_eq!(response.status, 200, "SRV-LHTTP-16: {response:?}");
        assert_eq!(
            response.json()["result"]["protocolVersion"],
            revision.as_str()
        );
        let session = response.header("mcp-session-id").unwrap().to_owned();
        Self {
            service: service.clone(),
            revision,
            session,
        }
    }

    pub(crate) fn post(&self, message: &Value) -> Post {
        let post = Post::raw(message.to_string()).with("mcp-session-id", &self.session);
        if self.revision >= Revision::V2025_06_18 {
            return post.with("mcp-protocol-version", self.revision.as_str());
        }
        post
    }

    fn request(&self, id: impl Into<Value>, method: &str, params: &Value) -> Post {
        let id = id.into();
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    pub(crate) fn tool(&self, id: i64, name: &str, arguments: &Value) -> Post {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 7}});
        self.request(id, "tools/call", &params)
    }

    pub(crate) fn get(&self) -> Post {
        let get = self
            .post(&Value::Null)
            .method("GET")
            .with("accept", "text/event-stream");
        Post {
            body: String::new(),
            ..get
        }
    }

    fn add(&self, id: i64) -> Post {
        self.tool(id, "add", &json!({"a": 2, "b": 3}))
    }

    fn ping(&self) -> Post {
        self.request(1, "ping", &json!({}))
    }

    fn delete(&self) -> Post {
        self.get().method("DELETE")
    }

    pub(crate) async fn send(&self, post: Post) -> CompleteResponse {
        post.send(&self.service).await
    }

    /// Sends the request, and returns the body for reading by the test.
    pub(crate) async fn open(&self, post: Post) -> HttpBody {
        post.begin(&self.service).await.into_body()
    }

    /// Sends the request, and disconnects before the response.
    pub(crate) async fn abandon(&self, post: Post) {
        let mut response = Box::pin(post.begin(&self.service));
        // The request is polled until it waits for its call. It waits for nothing else.
        let polled = poll_fn(|context| Poll::Ready(response.as_mut().poll(context).is_ready()));
        assert!(!polled.await, "the response is not immediate");
    }

    /// Sends the request, and waits for the response in a task.
    pub(crate) fn spawn_send(&self, post: Post) -> JoinHandle<CompleteResponse> {
        let service = self.service.clone();
        tokio::spawn(async move { post.send(&service).await })
    }
}

/// Returns id and data of the events in a chunk.
fn events(bytes: &Bytes) -> Vec<(String, String)> {
    let text = std::str::from_utf8(bytes).unwrap();
    let events = text
        .split_terminator("\n\n")
        .filter(|event| !event.starts_with(':'));
    let event = |event: &str| {
        let event = event.strip_prefix("retry: 1000\n").unwrap_or(event);
        let (id, data) = event.split_once('\n').unwrap();
        let data = data.strip_prefix("data:").unwrap().trim_start();
        (id.strip_prefix("id: ").unwrap().to_owned(), data.to_owned())
    };
    events.map(event).collect()
}

async fn next_events(body: &mut HttpBody) -> Vec<(String, String)> {
    next(body)
        .await
        .map_or_else(Vec::new, |bytes| events(&bytes))
}
