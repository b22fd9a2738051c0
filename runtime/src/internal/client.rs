//! Names of the client.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::process::{ChildStdin, ChildStdout};
use treenail_schema::{CallToolRequest, CallToolResult, InputRequest, Tool};

pub use crate::client::answers::{
    answered_id, check_decoded_size, id_at_ends, is_cut_off, read_answer,
};
pub use crate::client::cache::with_session_builder;
pub use crate::client::line::{CloseReason, IN_MEMORY_BUFFER_BYTES};
pub use crate::client::protocol::{CreatedTask, StatusSink, TaskDriver, TaskFuture};
#[cfg(feature = "http-client")]
pub use crate::client::protocol::{HttpTarget, with_http_target};
pub use crate::client::stray::StrayLines;
pub use crate::client::typed::{ResultReader, Started};
use crate::client::{
    ClientError, ClientLimits, ClientRequest, HandlerFuture, McpClient, McpClientBuilder,
    McpClientSession, McpClientSessionBuilder, ServerCommand, SessionFuture, Subscription,
    TypedCall,
};
use crate::limits::Limits;
use crate::wire::{Members, as_string};

/// Timeouts that pause while a session obtains credentials.
pub mod timeout {
    #[cfg(feature = "http-client")]
    pub use crate::client::timeout::paused;
    pub use crate::client::timeout::timeout;
}

/// Starts a server as a child process. Returns its streams, and the source of its close reason.
pub fn start(
    command: &ServerCommand,
    limits: &ClientLimits,
) -> Result<(ChildStdout, ChildStdin, CloseReason), ClientError> {
    command.spawn(limits)
}

/// Returns the record of stray lines of a server.
pub fn stray_lines(command: &ServerCommand) -> StrayLines {
    command.stray_lines()
}

/// Returns the arguments of a call that are repeated in headers: names without the prefix, and values. None without HTTP.
pub fn argument_headers(client: &McpClient, tool: &Tool, arguments: &str) -> Vec<(String, String)> {
    client.argument_headers(tool, arguments)
}

/// Returns the limits of parsing messages for a client.
pub fn parsing_limits(limits: &ClientLimits) -> Limits {
    limits.parsing()
}

/// Returns the number of changes of its list of tools that the server has announced.
pub fn tools_version(client: &McpClient) -> u64 {
    client.tools_version()
}

/// Sends a prepared call of a tool, and validates its result.
pub async fn call_tool(
    client: &McpClient,
    tool: &str,
    request: ClientRequest<CallToolRequest>,
) -> Result<CallToolResult, ClientError> {
    client.send_call(tool, request).await
}

/// Client builder that accepts a driver of tasks.
pub trait AcceptsTaskDriver: Sized {
    /// Sets the driver of calls that become tasks.
    #[must_use]
    fn with_task_driver(self, driver: Arc<dyn TaskDriver>) -> Self;
}

impl AcceptsTaskDriver for McpClientBuilder {
    fn with_task_driver(self, driver: Arc<dyn TaskDriver>) -> Self {
        self.task_driver(driver)
    }
}

impl AcceptsTaskDriver for McpClientSessionBuilder {
    fn with_task_driver(self, driver: Arc<dyn TaskDriver>) -> Self {
        self.task_driver(driver)
    }
}

/// Sends a call. If it becomes a task, returns the task and the reader of its result.
pub async fn start_call<T>(
    call: TypedCall<T>,
) -> Result<(Started<T>, ResultReader<T>), ClientError> {
    call.start().await
}

/// Methods of a session that concern tasks.
pub trait TaskSession {
    /// Returns another handle to the session.
    #[must_use]
    fn shared(&self) -> Self;

    /// Returns the limits of the client.
    fn client_limits(&self) -> &ClientLimits;

    /// Returns the driver of tasks; `None` if the client does not support them.
    fn driver(&self) -> Option<&Arc<dyn TaskDriver>>;

    /// Sends a request about a task. The parameters and the result are the JSON text of an object.
    fn task_request(
        &self,
        method: &'static str,
        params: String,
        limit: Duration,
    ) -> SessionFuture<'_, String>;

    /// Subscribes to the changes of a task; `None` if the server does not acknowledge it.
    fn listen_to_task(&self, id: &str) -> SessionFuture<'_, Option<Subscription>>;

    /// Parses the questions of a task by key, and rejects too many.
    ///
    /// # Errors
    ///
    /// [`ClientError::Protocol`].
    fn questions(&self, requests: &RawValue)
    -> Result<BTreeMap<String, InputRequest>, ClientError>;

    /// Answers a question of a task as the same question of a call.
    fn answer(&self, question: InputRequest) -> HandlerFuture<'_, String>;
}

impl TaskSession for McpClientSession {
    fn shared(&self) -> Self {
        self.share()
    }

    fn client_limits(&self) -> &ClientLimits {
        self.limits()
    }

    fn driver(&self) -> Option<&Arc<dyn TaskDriver>> {
        self.task_driver()
    }

    fn task_request(
        &self,
        method: &'static str,
        params: String,
        limit: Duration,
    ) -> SessionFuture<'_, String> {
        Box::pin(self.task_request(method, params, limit))
    }

    fn listen_to_task(&self, id: &str) -> SessionFuture<'_, Option<Subscription>> {
        let filter = json!({"taskIds": [id]});
        let id = id.to_owned();
        Box::pin(async move {
            let subscription = self.listen_json(&filter).await?;
            Ok(subscription.acknowledges_task(&id).then_some(subscription))
        })
    }

    fn questions(
        &self,
        requests: &RawValue,
    ) -> Result<BTreeMap<String, InputRequest>, ClientError> {
        self.parse_questions(requests)
    }

    fn answer(&self, question: InputRequest) -> HandlerFuture<'_, String> {
        Box::pin(self.answer_question(question))
    }
}

/// Returns the value of a string member of an object.
pub fn string_member(object: &str, name: &str) -> Option<String> {
    let mut members = Members::new(object).ok()?;
    while let Some((key, text)) = members.next().ok()? {
        if key == name {
            return as_string(text).map(Cow::into_owned);
        }
    }
    None
}

/// Returns the parameters of a request with these strings in their `_meta`, in place of members with the same names.
pub fn with_meta(params: &str, strings: &[(String, String)]) -> String {
    if strings.is_empty() {
        return params.to_owned();
    }
    let (mut out, mut separator) = (String::with_capacity(params.len() + 128), "{");
    let mut meta: Vec<(String, String)> = Vec::new();
    let mut push = |out: &mut String, key: &str, text: &str| {
        out.push_str(separator);
        out.push_str(&json!(key).to_string());
        out.push(':');
        out.push_str(text);
        separator = ",";
    };
    let mut members = Members::new(params);
    while let Ok(Some((key, text))) = members.as_mut().map_or(Ok(None), Members::next) {
        if key != "_meta" {
            push(&mut out, &key, text);
            continue;
        }
        let mut members = Members::new(text);
        while let Ok(Some((key, text))) = members.as_mut().map_or(Ok(None), Members::next) {
            meta.push((key.into_owned(), text.to_owned()));
        }
    }
    meta.retain(|(key, _)| strings.iter().all(|(name, _)| name != key));
    let strings = strings.iter();
    meta.extend(strings.map(|(name, value)| (name.clone(), json!(value).to_string())));
    let meta: Vec<String> = meta
        .iter()
        .map(|(key, text)| format!("{}:{text}", json!(key)))
        .collect();
    push(&mut out, "_meta", &format!("{{{}}}", meta.join(",")));
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::{string_member, with_meta};

    #[test]
    fn strings_replace_members_of_meta() {
        let strings = [("traceparent".to_owned(), "\"new\"".to_owned())];
        for (params, expected) in [
            ("{}", r#"{"_meta":{"traceparent":"\"new\""}}"#),
            (
                r#"{"_meta":{"a":1.50,"traceparent":"old"},"name":"x"}"#,
                r#"{"name":"x","_meta":{"a":1.50,"traceparent":"\"new\""}}"#,
            ),
        ] {
            assert_eq!(with_meta(params, &strings), expected);
        }
        assert_eq!(with_meta("{}", &[]), "{}");
        assert_eq!(string_member(r#"{"name":"a\nb"}"#, "name").unwrap(), "a\nb");
        assert_eq!(string_member(r#"{"name":1}"#, "name"), None);
    }
}
