//! Names of the client.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::json;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::Instant;
use treenail_schema::{CallToolRequest, CallToolResult};

pub use crate::client::answers::{
    answered_id, answered_request, check_decoded_size, error_in, is_cut_off, read_answer,
};
pub use crate::client::background::{in_background, in_background_if, is_in_background};
pub use crate::client::cache::{HeaderArguments, with_session_builder};
pub use crate::client::cooperative::poll_within_budget;
pub use crate::client::line::{CloseReason, IN_MEMORY_BUFFER_BYTES};
pub use crate::client::protocol::progress_bytes;
#[cfg(feature = "http-client")]
pub use crate::client::protocol::{HttpOptions, HttpTarget, with_http_target};
pub use crate::client::stray::StrayLines;
use crate::client::typed::ResultReader;
use crate::client::{ClientError, ClientLimits, ClientRequest, McpClient, ServerCommand};
use crate::limits::Limits;
pub use crate::revision::downgrade_sampling_result;
use crate::wire::{Members, as_string};

/// Timeouts that pause while a session obtains credentials, or a handler of the client answers the server, unless a model does.
pub mod timeout {
    pub use crate::client::timeout::{
        is_expired, paused, poll_pausable, resumed, timeout, timeout_at,
    };
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

/// Returns whether a client sends arguments of calls as headers.
pub fn sends_header_arguments(client: &McpClient) -> bool {
    client.sends_header_arguments()
}

/// Returns the limits of a client.
pub fn client_limits(client: &McpClient) -> &ClientLimits {
    client.session().limits()
}

/// Returns the limits of parsing messages for a client.
pub fn parsing_limits(limits: &ClientLimits) -> Limits {
    limits.parsing()
}

/// Returns the number of changes of its list of tools that the server has announced.
pub fn tools_version(client: &McpClient) -> u64 {
    client.tools_version()
}

/// Returns the time of the next periodic fetch of a list: shortly after the first list of a client expires by its TTL, which counts
/// as at least `min`. The delay is random, so that clients do not fetch together. `None` if no list has a TTL above zero.
pub fn next_list_fetch(client: &McpClient, min: Duration) -> Option<Instant> {
    client.next_list_fetch(min)
}

/// Sends a prepared call of a tool, and validates its result.
pub async fn call_tool(
    client: &McpClient,
    tool: &str,
    request: ClientRequest<CallToolRequest>,
) -> Result<CallToolResult, ClientError> {
    let reader = ResultReader::unchanged(client, tool.to_owned());
    reader.call(request).await
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
