//! Lines that a client writes.

use memchr::memchr2;

use crate::wire::RpcError;

/// Appends a request.
pub(super) fn push_request(out: &mut Vec<u8>, id: i64, method: &str, params: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    push_json(out, &id);
    out.extend_from_slice(br#","method":"#);
    push_json(out, method);
    push_params(out, params);
}

/// Appends a notification.
pub(super) fn push_notification(out: &mut Vec<u8>, method: &str, params: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    push_json(out, method);
    push_params(out, params);
}

/// Appends the notification that cancels a request.
pub(super) fn push_cancellation(out: &mut Vec<u8>, id: i64) {
    let method = "notifications/cancelled";
    push_notification(out, method, &format!(r#"{{"requestId":{id}}}"#));
}

/// Appends the answer to a request of the server, whose id is the JSON text `id`.
pub(super) fn push_answer(out: &mut Vec<u8>, id: &str, answer: Result<String, RpcError>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    push_text(out, id);
    match answer {
        Ok(result) => {
            out.extend_from_slice(br#","result":"#);
            push_text(out, &result);
        }
        Err(error) => {
            out.extend_from_slice(br#","error":"#);
            push_json(out, &error);
        }
    }
    out.extend_from_slice(b"}\n");
}

fn push_params(out: &mut Vec<u8>, params: &str) {
    out.extend_from_slice(br#","params":"#);
    push_text(out, params);
    out.extend_from_slice(b"}\n");
}

/// Appends a JSON text on one line. Line ends in valid JSON are white space, so they are replaced with spaces.
fn push_text(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = memchr2(b'\n', b'\r', rest) {
        out.extend_from_slice(&rest[..at]);
        out.push(b' ');
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn push_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("strings and errors always serialize");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_written_on_one_line() {
        let mut out = Vec::new();
        push_request(&mut out, 7, "a\"b", "{\n \"a\": \"b\\n\"\r\n}");
        push_cancellation(&mut out, 7);
        push_answer(&mut out, "\"x\"", Ok("{}".to_owned()));
        push_answer(&mut out, "1", Err(RpcError::new(-1, "no")));
        let expected = [
            r#"{"jsonrpc":"2.0","id":7,"method":"a\"b","params":{  "a": "b\n"  }}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
            "",
        ];
        assert_eq!(String::from_utf8_lossy(&out), expected.join("\n"));
    }
}
