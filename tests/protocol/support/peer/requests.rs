//! Requests of the client, with the responses and notifications that follow.

use serde_json::{Value, json};

use super::{Peer, error, meta};
use crate::support::validator::{validate, validate_notification};

impl Peer {
    /// Sends a request with the `_meta` that the revision requires, and receives the response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.receive(method).await;
        assert_eq!(answer["id"], id, "SRV-BASE-01: {answer}");
        answer
    }

    /// Sends a request without waiting for the response.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let message = self.message(&self.last_id.into(), method, params);
        self.send(&message).await;
        self.last_id
    }

    /// Creates a request with the `_meta` that the revision requires.
    pub(crate) fn message(&self, id: &Value, method: &str, mut params: Value) -> Value {
        if self.revision.is_modern() {
            for (key, value) in meta(self.revision.as_str()) {
                params["_meta"][key] = value;
            }
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// Cancels a request.
    pub(crate) async fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({"requestId": id.into()});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        )
        .await;
    }

    /// Calls a tool and returns the result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut answer = self
            .request("tools/call", json!({"name": name, "arguments": arguments}))
            .await;
        assert!(answer.get("result").is_some(), "{name}: {answer}");
        answer["result"].take()
    }

    /// Requests a prompt and returns the result.
    pub(crate) async fn prompt(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let mut answer = self.request("prompts/get", params).await;
        assert!(answer.get("result").is_some(), "{name}: {answer}");
        answer["result"].take()
    }

    /// Reads a resource and returns the result.
    pub(crate) async fn read(&mut self, uri: &str) -> Value {
        let mut answer = self.request("resources/read", json!({ "uri": uri })).await;
        assert!(answer.get("result").is_some(), "{uri}: {answer}");
        answer["result"].take()
    }

    /// Sends a request and receives the notifications before the response, and the response.
    pub(crate) async fn request_with_notifications(
        &mut self,
        method: &str,
        params: Value,
    ) -> (Vec<Value>, Value) {
        self.begin(method, params).await;
        let mut notifications = Vec::new();
        loop {
            let message = self
                .receive_any()
                .await
                .expect("the server has closed its output");
            if message.get("id").is_some() {
                validate(self.revision, method, &message);
                return (notifications, message);
            }
            validate_notification(self.revision, &message);
            notifications.push(message);
        }
    }

    /// Receives the next message, which must be a notification, and returns its method and params.
    pub(crate) async fn next_notification(&mut self) -> (String, Value) {
        let mut message = self
            .receive_any()
            .await
            .expect("the server has closed its output");
        validate_notification(self.revision, &message);
        assert!(message.get("id").is_none(), "not a notification: {message}");
        let method = message["method"].as_str().unwrap().to_owned();
        (method, message["params"].take())
    }

    /// Checks that the server has sent nothing unsolicited.
    pub(crate) async fn told_nothing(&mut self) {
        self.request("tools/list", json!({})).await;
    }

    /// Sends an invalid request and returns the code and message of the error.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        error(&self.request(method, params).await)
    }
}
