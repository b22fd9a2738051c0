//! Answers of a server as JSON text, and the ids of malformed ones.

use crate::client::{ClientError, ClientLimits};
use crate::wire::{Invalid, Members, RpcError, copied_id, id_at_ends, is_heavier, read_json};

/// Number of bytes at either end of a message that are searched for its id.
const SEARCH_BYTES: usize = 256;

/// Returns the text of a result, or the error in its place. The decoded size of a result is checked when it is decoded.
pub fn read_answer(
    answer: Result<&str, &str>,
    limits: &ClientLimits,
) -> Result<String, ClientError> {
    match answer {
        Ok(result) if result.starts_with('{') => Ok(result.to_owned()),
        Ok(_) => Err(ClientError::protocol("a result is not an object")),
        Err(error) => {
            check_decoded_size(error, limits)?;
            Err(match read_json::<RpcError>(error) {
                Ok(error) => ClientError::Refused(error),
                Err(_) => ClientError::protocol("an error has no code or no message"),
            })
        }
    }
}

/// Rejects a text whose decoded values would take too much memory.
pub fn check_decoded_size(text: &str, limits: &ClientLimits) -> Result<(), ClientError> {
    let limit = limits.decoded_bytes;
    if !is_heavier(text, limit) {
        return Ok(());
    }
    Err(ClientError::protocol(format!(
        "an answer would take more than {limit} bytes of memory"
    )))
}

/// Returns true if the last line, which has no line end, is incomplete.
pub fn is_cut_off(line: &[u8]) -> bool {
    !matches!(line.trim_ascii_end().last(), Some(b'}' | b']'))
}

/// Returns the id of the request that a malformed message answers.
pub fn answered_request(invalid: &Invalid<'_>, text: &[u8]) -> Option<i64> {
    let id = invalid.answered.and_then(copied_id);
    id.or_else(|| answered_id(text))
}

/// Returns the id of the request that a malformed message answers, if its first or last bytes contain it.
pub fn answered_id(message: &[u8]) -> Option<i64> {
    let head = &message[..message.len().min(SEARCH_BYTES)];
    let tail = &message[message.len().saturating_sub(SEARCH_BYTES)..];
    copied_id(id_at_ends(head, tail).answered?)
}

/// Returns the JSON-RPC error in a message, whatever its id is.
pub fn error_in(message: &[u8]) -> Option<RpcError> {
    let text = std::str::from_utf8(message).ok()?;
    let mut members = Members::new(text).ok()?;
    let (mut error, mut is_json_rpc) = (None, false);
    while let Some((key, value)) = members.next().ok()? {
        match &*key {
            "error" => error = Some(value),
            "jsonrpc" => is_json_rpc = value == "\"2.0\"",
            _ => {}
        }
    }
    // Other servers have JSON errors too, so the message must be JSON-RPC.
    let error = error.filter(|_| is_json_rpc)?;
    serde_json::from_str(error).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_message_is_its_own_head_and_tail() {
        let message = br#"{"result":{"a":Infinity},"jsonrpc":"2.0","id":9}"#;
        assert_eq!(answered_id(message), Some(9));
        assert_eq!(answered_id(b"\xff{\"id\":3,\"result\":"), Some(3));
        assert_eq!(answered_id(b"{\"id\":3.0,\"result\":{},"), Some(3));
        assert_eq!(answered_id(b"{\"id\":\"3\",\"result\":{},"), Some(3));
        assert_eq!(answered_id(b""), None);
    }

    #[test]
    fn half_of_a_character_hides_no_error() {
        let answer = read_answer(
            Err(r#"{"code":1,"message":"no \ud83d"}"#),
            &ClientLimits::default(),
        );
        let error = answer.expect_err("it is an error");
        let refused = error.as_refused().expect("it can be read");
        assert_eq!(refused.message, "no \u{fffd}");
    }

    #[test]
    fn only_json_rpc_errors_are_parsed() {
        let code = |text: &str| error_in(text.as_bytes()).map(|error| error.code);
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}"#,
                Some(-32022),
            ),
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"},"id":null}"#,
                Some(-32600),
            ),
            (r#"{"error":{"code":404,"message":"Not Found"}}"#, None),
            (
                r#"{"jsonrpc":"2.0","error":{"code":"x","message":"no"}}"#,
                None,
            ),
            (r#"{"jsonrpc":"2.0","error":"no"}"#, None),
            (
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"}} x"#,
                None,
            ),
            ("<html>", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected, "CLI-ERA-08: {text}");
        }
    }
}
