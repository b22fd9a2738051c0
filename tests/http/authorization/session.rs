//! Sessions of the legacy era, with a token in each request.

use serde_json::{Value, json};
use treenail::schema::Revision;

use crate::client::{CompleteResponse, Post};

/// Session of the legacy era.
pub(super) struct Session {
    pub(super) id: String,
}

impl Session {
    pub(super) async fn start(
        revision: Revision,
        send: impl AsyncFn(Post) -> CompleteResponse,
    ) -> Self {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": revision.as_str(),
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let response = send(Post::raw(initialize.to_string())).await;
        let id = response.header("mcp-session-id").unwrap().to_owned();
        let session = Self { id };
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let response = send(session.post(&done)).await;
        response.expect_accepted("SRV-LHTTP-02");
        session
    }

    pub(super) fn post(&self, message: &Value) -> Post {
        Post::raw(message.to_string()).with("mcp-session-id", &self.id)
    }

    pub(super) fn request(&self, method: &str, params: &Value) -> Post {
        self.post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    pub(super) fn listen(&self) -> Post {
        let get = self.post(&Value::Null).method("GET");
        get.with("accept", "text/event-stream")
    }
}
