//! Answers of a server as JSON text, and the ids of malformed ones.

use crate::client::{ClientError, ClientLimits};
use crate::wire::{Members, RpcError, is_heavier};

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
            Err(match serde_json::from_str::<RpcError>(error) {
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

/// Returns the id of the request that a malformed message answers, if its first or last bytes contain it.
pub fn answered_id(message: &[u8]) -> Option<i64> {
    let head = &message[..message.len().min(SEARCH_BYTES)];
    let tail = &message[message.len().saturating_sub(SEARCH_BYTES)..];
    id_at_ends(head, tail)
}

/// Returns the id of an answer from its first and last bytes. The id precedes or follows the result. A message that looks
/// like a request has no such id.
pub fn id_at_ends(head: &[u8], tail: &[u8]) -> Option<i64> {
    const KEY: &str = "\"id\":";

    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let first_of = |members: [&str; 2]| members.iter().filter_map(|it| head.find(it)).min();
    let answer = first_of(["\"result\"", "\"error\""]);
    let request = first_of(["\"method\"", "\"params\""]);
    if request.is_some_and(|request| answer.is_none_or(|answer| request < answer)) {
        return None;
    }
    let envelope = &head[..answer.unwrap_or(head.len())];
    let (id, rest) = match (envelope.find(KEY), tail.rfind(KEY)) {
        (Some(at), _) => split_number(&envelope[at + KEY.len()..]),
        (None, Some(at)) => split_number(&tail[at + KEY.len()..]),
        (None, None) => return None,
    };
    let is_end = |rest: &str| {
        let rest = rest.trim_start_matches(",\"jsonrpc\":\"2.0\"");
        rest.trim() == "}"
    };
    let is_outermost = envelope.contains(KEY) || is_end(rest);
    id.filter(|_| is_outermost)
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

/// Splits a leading number from a text.
fn split_number(text: &str) -> (Option<i64>, &str) {
    let text = text.trim_start();
    let is_digit = |character: char| character == '-' || character.is_ascii_digit();
    let end = text.find(|character| !is_digit(character));
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    (number.parse().ok(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_answer_is_found_at_its_ends() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"a":"x"#,
                "xxx",
                Some(7),
            ),
            (r#"{"id": 7,"result":{"id":8"#, r#"xx","id":9}"#, Some(7)),
            (
                r#"{"result":{"id":8,"a":"x"#,
                r#"xx"},"jsonrpc":"2.0","id":9}"#,
                Some(9),
            ),
            (
                r#"{"result":{"a":"x"#,
                r#"xx"},"id":9,"jsonrpc":"2.0"}"#,
                Some(9),
            ),
            (r#"{"result":{"id":8,"a":"x"#, r#"xx","id":9}}"#, None),
            (r#"{"result":{"a":"x"#, "xxx", None),
            (r#"{"jsonrpc":"2.0","id":"s","result":{"a":"x"#, "xxx", None),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"result":"#,
                r#"xx"}}"#,
                None,
            ),
            (r#"{"params":{"a":"x"#, r#"xx"},"method":"a","id":9}"#, None),
            ("no message", "at all", None),
        ];
        for (head, tail, id) in cases {
            assert_eq!(
                id_at_ends(head.as_bytes(), tail.as_bytes()),
                id,
                "{head} … {tail}"
            );
        }
    }

    #[test]
    fn a_short_message_is_its_own_head_and_tail() {
        let message = br#"{"result":{"a":Infinity},"jsonrpc":"2.0","id":9}"#;
        assert_eq!(answered_id(message), Some(9));
        assert_eq!(answered_id(b"\xff{\"id\":3,\"result\":"), Some(3));
        assert_eq!(answered_id(b""), None);
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
