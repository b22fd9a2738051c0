//! Bodies of outgoing messages.

use treenail_runtime::RpcError;
use treenail_runtime::client::{SessionNotification, SessionRequest};

pub(crate) fn request(request: &SessionRequest) -> Vec<u8> {
    let start = format!("\"id\":{},", request.id);
    message(&start, &request.method, &request.params)
}

pub(crate) fn notification(notification: &SessionNotification) -> Vec<u8> {
    message("", &notification.method, &notification.params)
}

pub(crate) fn cancelled(id: i64) -> Vec<u8> {
    let params = format!("{{\"requestId\":{id}}}");
    message("", "notifications/cancelled", &params)
}

/// Answer to a request of the server, whose id is the JSON text `id`.
pub(crate) fn answer(id: &str, answer: Result<String, RpcError>) -> Vec<u8> {
    let (member, value) = match answer {
        Ok(result) => ("result", result),
        Err(error) => ("error", serde_json::json!(error).to_string()),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{value}}}").into()
}

fn message(id: &str, method: &str, params: &str) -> Vec<u8> {
    let method = serde_json::Value::from(method);
    format!("{{\"jsonrpc\":\"2.0\",{id}\"method\":{method},\"params\":{params}}}").into()
}
