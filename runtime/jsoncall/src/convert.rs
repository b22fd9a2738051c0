//! Conversions between the message formats of the two libraries.

use std::fmt::Display;
use std::io::Write;

use ::jsoncall::{ErrorCode, ErrorObject};
use serde_json::value::RawValue;
use treenail_runtime::RpcError;

/// Appends a request.
pub(super) fn push_request(out: &mut Vec<u8>, id: impl Display, method: &str, params: &str) {
    push(
        out,
        format_args!(r#"{{"jsonrpc":"2.0","id":{id},"method":"#),
    );
    push_json(out, method);
    push(out, format_args!(",\"params\":{params}}}\n"));
}

/// Appends a notification.
pub(super) fn push_notification(out: &mut Vec<u8>, method: &str, params: &str) {
    push(out, format_args!(r#"{{"jsonrpc":"2.0","method":"#));
    push_json(out, method);
    push(out, format_args!(",\"params\":{params}}}\n"));
}

/// Appends a response: the text of a result, or an error.
pub(super) fn push_response(
    out: &mut Vec<u8>,
    id: impl Display,
    response: Result<&str, &RpcError>,
) {
    push(out, format_args!(r#"{{"jsonrpc":"2.0","id":{id},"#));
    match response {
        Ok(result) => push(out, format_args!("\"result\":{result}}}\n")),
        Err(error) => push_error_member(out, error),
    }
}

/// Appends an error without a request id.
pub(super) fn push_error(out: &mut Vec<u8>, error: &RpcError) {
    push(out, format_args!(r#"{{"jsonrpc":"2.0","#));
    push_error_member(out, error);
}

fn push_error_member(out: &mut Vec<u8>, error: &RpcError) {
    push(out, format_args!("\"error\":"));
    push_json(out, error);
    push(out, format_args!("}}\n"));
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory cannot fail");
}

fn push_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("texts and errors always serialize");
}

/// Parses an error with the same nesting limit as `jsoncall`.
pub(super) fn read_error(error: &str) -> Option<RpcError> {
    // In a list, it has the same nesting depth as in its message.
    let [error]: [RpcError; 1] = serde_json::from_str(&format!("[{error}]")).ok()?;
    Some(error)
}

/// Converts JSON text to one line; a line end in it can only be white space.
pub(super) fn raw(text: String) -> Option<Box<RawValue>> {
    let text = match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
        Some(_) => text.replace(['\n', '\r'], " "),
        None => text,
    };
    RawValue::from_string(text).ok()
}

/// Returns the text of parameters; all methods of the protocol have object parameters.
pub(super) fn params_text(params: Option<&RawValue>) -> &str {
    params.map_or("{}", RawValue::get)
}

pub(super) fn to_jsoncall(error: RpcError) -> ::jsoncall::Error {
    let error = ErrorObject {
        code: ErrorCode(error.code),
        message: error.message.into_owned(),
        data: error.data,
    };
    error.into()
}

pub(super) fn from_jsoncall(error: &ErrorObject) -> RpcError {
    let mut converted = RpcError::new(error.code.0, error.message.clone());
    converted.data.clone_from(&error.data);
    converted
}
