//! Messages of the client: lines of JSON-RPC.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use treenail::RpcError;

/// Maximum length of the id of a request, in bytes.
const MAX_ID_BYTES: usize = 4 << 10;

/// Message of the client. Parameters and results are JSON text.
#[derive(Debug)]
pub(super) enum ClientMessage {
    Request(ClientRequest),
    Notification {
        method: String,
        params: String,
    },
    /// Answer to a request of the server.
    Answer {
        id: String,
        result: Result<String, RpcError>,
    },
}

/// Request of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientRequest {
    /// JSON text of the id.
    pub(super) id: String,
    pub(super) method: String,
    pub(super) params: String,
}

/// Text that is no message, with the error to answer. Its id is not known.
#[derive(Debug)]
pub(super) struct InvalidMessage {
    pub(super) error: Box<RpcError>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// Parses a line: a message, or a batch of messages (revision 2025-03-26), whose answers are sent one by one. A blank line has no
/// message.
pub(super) fn parse_line(line: &[u8]) -> Vec<Result<ClientMessage, InvalidMessage>> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text.trim(),
        Err(error) => return vec![Err(parse_error(&error))],
    };
    if text.is_empty() {
        return Vec::new();
    }
    if !text.starts_with('[') {
        return vec![parse_message(text)];
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(batch) if batch.is_empty() => vec![Err(invalid("a batch has at least one message"))],
        Ok(batch) => batch
            .iter()
            .map(|message| parse_message(message.get()))
            .collect(),
        Err(error) => vec![Err(parse_error(&error))],
    }
}

fn parse_message(text: &str) -> Result<ClientMessage, InvalidMessage> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            invalid(format!("not a message: {error}"))
        } else {
            parse_error(&error)
        }
    })?;
    let id = envelope.id.as_ref().map(id_text).transpose()?;
    let params = envelope.params.map_or("{}", RawValue::get).to_owned();
    match (id, envelope.method) {
        (Some(id), Some(method)) => Ok(ClientMessage::Request(ClientRequest {
            id,
            method: method.into_owned(),
            params,
        })),
        (None, Some(method)) => Ok(ClientMessage::Notification {
            method: method.into_owned(),
            params,
        }),
        (Some(id), None) => {
            let result = match (envelope.result, envelope.error) {
                (Some(result), None) => Ok(result.get().to_owned()),
                (None, Some(error)) => Err(error),
                _ => {
                    return Err(invalid("expected a `method`, a `result` or an `error`"));
                }
            };
            Ok(ClientMessage::Answer { id, result })
        }
        (None, None) => Err(invalid("expected a `method`")),
    }
}

/// Returns the JSON text of an id, in one form for equal ids.
fn id_text(id: &Value) -> Result<String, InvalidMessage> {
    let text = id.to_string();
    if !(id.is_string() || id.is_number()) || text.len() > MAX_ID_BYTES {
        return Err(invalid("expected a number or a short string as `id`"));
    }
    Ok(text)
}

fn parse_error(error: &impl std::fmt::Display) -> InvalidMessage {
    let message = format!("not valid JSON: {error}");
    let error = RpcError::new(treenail::schema::error_code::PARSE_ERROR, message);
    InvalidMessage {
        error: Box::new(error),
    }
}

fn invalid(message: impl Into<Cow<'static, str>>) -> InvalidMessage {
    InvalidMessage {
        error: Box::new(RpcError::invalid_request(message)),
    }
}

/// Returns the member of the parameters, if it is there.
pub(super) fn member(params: &str, path: &[&str]) -> Option<Value> {
    let params: Value = serde_json::from_str(params).ok()?;
    let mut value = &params;
    for name in path {
        value = value.get(name)?;
    }
    Some(value.clone())
}

/// Writes an answer to a request.
pub(super) fn answer(id: &str, result: &Result<String, RpcError>) -> String {
    let member = match result {
        Ok(result) => format!("\"result\":{result}"),
        Err(error) => {
            let error = serde_json::to_string(error).unwrap_or_default();
            format!("\"error\":{error}")
        }
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{member}}}")
}

/// Writes a notification.
pub(super) fn notification(method: &str, params: &str) -> String {
    let method = Value::from(method);
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{method},\"params\":{params}}}")
}

/// Writes a request of the server.
pub(super) fn request(id: &str, method: &str, params: &str) -> String {
    let method = Value::from(method);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_of(line: &str) -> ClientRequest {
        match parse_line(line.as_bytes()).pop() {
            Some(Ok(ClientMessage::Request(request))) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parameters_pass_unchanged() {
        let line = r#" {"jsonrpc":"2.0","id":"a\u0062","method":"x","params":{ "n": 1.0 }}"#;
        let request = request_of(line);
        assert_eq!((&*request.id, &*request.method), ("\"ab\"", "x"));
        assert_eq!(request.params, r#"{ "n": 1.0 }"#);
    }

    #[test]
    fn invalid_lines_have_an_error() {
        let cases = [
            ("nothing", -32700),
            ("{}", -32600),
            ("3", -32600),
            ("[ ]", -32600),
            (r#"{"id":[1],"method":"a"}"#, -32600),
            (r#"{"id":1}"#, -32600),
            ("\u{7f}", -32700),
        ];
        for (line, code) in cases {
            let parsed = parse_line(line.as_bytes()).pop().unwrap();
            assert_eq!(parsed.unwrap_err().error.code, code, "{line}");
        }
        assert_eq!(parse_line(&[0xff]).len(), 1);
    }

    #[test]
    fn a_blank_line_has_no_message() {
        for line in ["", " \r\n"] {
            assert!(parse_line(line.as_bytes()).is_empty(), "{line:?}");
        }
    }

    #[test]
    fn a_batch_has_several_messages() {
        let line = br#"[{"id":1,"method":"a"},{"method":"b"},{"id":2,"result":{}}]"#;
        assert_eq!(parse_line(line).iter().filter(|it| it.is_ok()).count(), 3);
    }
}
