//! Responses, written in place: the envelope around a result or an error.

use crate::wire::RpcError;

/// Writes the response to one request: its envelope, and the result that `write` writes.
#[inline]
pub fn write_result(out: &mut Vec<u8>, id: &str, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
    write(out);
    out.push(b'}');
}

/// Writes an error response. `id` is `None` only if the id of the request could not be read.
pub fn write_error(out: &mut Vec<u8>, id: Option<&str>, error: &RpcError) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        out.extend_from_slice(id.as_bytes());
        out.push(b',');
    }
    out.extend_from_slice(br#""error":"#);
    let start = out.len();
    if let Err(failure) = serde_json::to_writer(&mut *out, error) {
        tracing::error!(%failure, "an error could not be written");
        out.truncate(start);
        out.extend_from_slice(br#"{"code":-32603,"message":"internal error"}"#);
    }
    out.push(b'}');
}

/// Returns the error code of a response to the request with this `id`, if it is an error.
pub fn error_code(answer: &[u8], id: &str) -> Option<i64> {
    let rest = answer.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    code_of(rest.strip_prefix(id.as_bytes())?)
}

/// Returns the error code of a response to any request, if it is an error.
#[inline]
pub fn any_error_code(answer: &[u8]) -> Option<i64> {
    let rest = answer.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let mut is_escaped = false;
    let end = match rest {
        [b'"', text @ ..] => {
            text.iter().position(|byte| {
                let ends = *byte == b'"' && !is_escaped;
                is_escaped = *byte == b'\\' && !is_escaped;
                ends
            })? + 2
        }
        _ => rest.iter().position(|byte| *byte == b',')?,
    };
    code_of(&rest[end..])
}

/// Returns the error code of a response, given the part after its id.
fn code_of(rest: &[u8]) -> Option<i64> {
    let code = rest.strip_prefix(br#","error":{"code":"#)?;
    let length = code.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    std::str::from_utf8(&code[..length]).ok()?.parse().ok()
}
