//! Mock of a session, for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Map, Value, json};
use treenail_schema::Revision;

use crate::client::{
    ClientError, IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest,
    TransportKind,
};
use crate::wire::RpcError;

type AnswerFn = dyn Fn(&Value) -> Result<Value, RpcError> + Send + Sync;

/// Mock of a session, for tests of programs that use a server. It supports the newest revision, declares the
/// capabilities that follow from its answers, and records the requests.
///
/// ```
/// use std::sync::Arc;
///
/// use serde_json::json;
/// use treenail::client::{McpClient, MockSession};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mock = MockSession::new().tool("add", |arguments| Ok(json!({"sum": arguments["a"].as_i64()})));
/// let mock = Arc::new(mock);
/// let client = McpClient::builder().session(mock.clone()).build().await?;
/// let result = client.call_tool("add", json!({"a": 3})).await?;
/// assert_eq!(result.structured_content, Some(json!({"sum": 3})));
/// assert_eq!(mock.requests("tools/call")[0]["name"], "add");
/// # Ok(())
/// # }
/// ```
///
/// A request without an answer is rejected with -32601, and a call of an unknown tool with -32602.
#[derive(Default)]
pub struct MockSession {
    answers: BTreeMap<String, Box<AnswerFn>>,
    tools: BTreeMap<String, Box<AnswerFn>>,
    incoming: OnceLock<Arc<dyn IncomingHandler>>,
    received: Mutex<Vec<(String, Value)>>,
}

impl MockSession {
    /// Creates a mock without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer to the requests of a method, a function from the parameters to the result.
    #[must_use]
    pub fn answer(
        mut self,
        method: &str,
        answer: impl Fn(&Value) -> Result<Value, RpcError> + Send + Sync + 'static,
    ) -> Self {
        self.answers.insert(method.to_owned(), Box::new(answer));
        self
    }

    /// Adds a tool, a function from the arguments to the structured content of the result. It is listed with a schema
    /// that accepts any arguments.
    #[must_use]
    pub fn tool(
        mut self,
        name: &str,
        call: impl Fn(&Value) -> Result<Value, RpcError> + Send + Sync + 'static,
    ) -> Self {
        self.tools.insert(name.to_owned(), Box::new(call));
        self
    }

    /// Returns the parameters of the requests and notifications of one method, oldest first, without `_meta`.
    pub fn requests(&self, method: &str) -> Vec<Value> {
        let received = self.received();
        let of_method = received.iter().filter(|(name, _)| name == method);
        of_method.map(|(_, params)| params.clone()).collect()
    }

    /// Sends a notification to the client.
    pub fn notify(&self, method: &str, params: &Value) {
        if let Some(incoming) = self.incoming.get() {
            incoming.notification(method, &params.to_string());
        }
    }

    fn received(&self) -> MutexGuard<'_, Vec<(String, Value)>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, method: &str, params: &str) -> Result<Value, ClientError> {
        let mut params: Value = serde_json::from_str(params)
            .map_err(|error| ClientError::invalid(error.to_string()))?;
        if let Some(params) = params.as_object_mut() {
            params.shift_remove("_meta");
        }
        self.received().push((method.to_owned(), params.clone()));
        Ok(params)
    }

    fn respond(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        match (self.answers.get(method), method) {
            (Some(answer), _) => answer(params),
            (None, "server/discover") => Ok(self.discover_result()),
            (None, "tools/list") => Ok(self.list_result()),
            (None, "tools/call") => self.call(params),
            (None, _) => Err(RpcError::method_not_found(method, Revision::LATEST)),
        }
    }

    fn discover_result(&self) -> Value {
        let mut capabilities = Map::new();
        let has = |group: &str| self.answers.keys().any(|method| method.starts_with(group));
        for (name, group) in [
            ("tools", "tools/"),
            ("prompts", "prompts/"),
            ("resources", "resources/"),
            ("completions", "completion/"),
        ] {
            if has(group) || (name == "tools" && !self.tools.is_empty()) {
                capabilities.insert(name.to_owned(), json!({}));
            }
        }
        let version = Revision::LATEST.as_str();
        json!({"supportedVersions": [version], "capabilities": capabilities})
    }

    fn list_result(&self) -> Value {
        let schema = json!({"type": "object", "properties": {}});
        let tool = |name: &String| json!({"name": name, "inputSchema": schema});
        json!({"tools": self.tools.keys().map(tool).collect::<Vec<_>>()})
    }

    fn call(&self, params: &Value) -> Result<Value, RpcError> {
        let name = params["name"].as_str().unwrap_or_default();
        let call = self.tools.get(name).ok_or_else(|| {
            RpcError::invalid_params(format!("there is no tool {}", crate::wire::quoted(name)))
        })?;
        let output = call(&params["arguments"])?;
        let content = json!([{"type": "text", "text": output.to_string()}]);
        Ok(json!({"content": content, "structuredContent": output}))
    }
}

impl Session for MockSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        // A session has only one listener, set once.
        drop(self.incoming.set(incoming));
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let params = self.record(&request.method, &request.params)?;
            let result = self.respond(&request.method, &params)?;
            Ok(result.to_string())
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.record(&notification.method, &notification.params)
                .map(drop)
        })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Stream
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            if let Some(incoming) = self.incoming.get() {
                incoming.closed();
            }
            Ok(())
        })
    }
}

impl fmt::Debug for MockSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (answers, tools): (Vec<_>, Vec<_>) =
            (self.answers.keys().collect(), self.tools.keys().collect());
        formatter
            .debug_struct("MockSession")
            .field("answers", &answers)
            .field("tools", &tools)
            .finish_non_exhaustive()
    }
}
