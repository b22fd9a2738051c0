//! Parsing of one JSON-RPC message. Its parameters stay JSON text.

use std::borrow::Cow;

use crate::limits::Limits;
use crate::wire::{DEEPEST, Params, RpcError, Scanner, SyntaxError, as_string};

/// Content of one line or body.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// One message.
    One(Result<Message<'a>, Invalid<'a>>),
    /// A batch, as the checked JSON texts of its messages.
    Batch(Vec<&'a str>),
}

/// Well-formed message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(&'a str, Envelope<'a>),
    Notification(Envelope<'a>),
    /// Response to a request of ours: JSON text of its id, and of its result or error.
    Response(&'a str, Result<&'a str, &'a str>),
}

/// Common members of requests and notifications.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
}

/// Malformed message. The error response uses `id`, if the message has one.
#[derive(Debug)]
pub(crate) struct Invalid<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) error: RpcError,
}

impl From<SyntaxError> for Invalid<'_> {
    fn from(error: SyntaxError) -> Self {
        Self {
            id: None,
            error: RpcError::parse(error),
        }
    }
}

/// Parses one line or body. Nesting deeper than [`Limits::message_depth`] is an error. An oversized batch is truncated to one
/// message more than the limit, so that the caller can detect it.
pub(crate) fn parse<'a>(bytes: &'a [u8], limits: &Limits) -> Body<'a> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_text(text, limits),
        Err(error) => Body::One(Err(Invalid {
            id: None,
            error: RpcError::new(
                treenail_schema::error_code::PARSE_ERROR,
                format!("not UTF-8 at byte {}", error.valid_up_to()),
            ),
        })),
    }
}

fn parse_text<'a>(text: &'a str, limits: &Limits) -> Body<'a> {
    let mut scanner = Scanner::new(text, limits.message_depth);
    if scanner.peek() == Some(b'[') {
        return match read_elements(&mut scanner, limits.batch_messages) {
            Ok(messages) => Body::Batch(messages),
            Err(error) => Body::One(Err(error.into())),
        };
    }
    Body::One(parse_message(scanner, limits))
}

/// Parses one message of a batch whose JSON has been checked.
pub(crate) fn parse_element<'a>(
    text: &'a str,
    limits: &Limits,
) -> Result<Message<'a>, Invalid<'a>> {
    parse_message(Scanner::new(text, DEEPEST), limits)
}

fn read_elements<'a>(
    scanner: &mut Scanner<'a>,
    max_messages: usize,
) -> Result<Vec<&'a str>, SyntaxError> {
    let mut elements = Vec::new();
    scanner.open_array()?;
    while let Some(element) = scanner.next_element(elements.is_empty())? {
        if elements.len() <= max_messages {
            elements.push(element);
        }
    }
    scanner.end()?;
    Ok(elements)
}

/// Members of a message, as JSON texts.
#[derive(Default)]
struct Parts<'a> {
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<Params<'a>>,
    /// `params` is not an object.
    invalid_params: bool,
    response: Option<Result<&'a str, &'a str>>,
    repeated: Option<&'static str>,
}

fn parse_message<'a>(
    mut scanner: Scanner<'a>,
    limits: &Limits,
) -> Result<Message<'a>, Invalid<'a>> {
    if scanner.peek() != Some(b'{') {
        // Invalid JSON is a parse error. Other valid JSON is an invalid request.
        scanner.value()?;
        scanner.end()?;
        return Err(Invalid {
            id: None,
            error: RpcError::invalid_request("a message is a JSON object"),
        });
    }
    let parts = Parts::read(&mut scanner)?;
    scanner.end()?;
    parts.into_message(limits.request_id_bytes)
}

impl<'a> Parts<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, SyntaxError> {
        let mut parts = Self::default();
        let mut first = true;
        scanner.open_object()?;
        while let Some(key) = scanner.next_member(first)? {
            first = false;
            if key == "params" {
                parts.read_params(scanner)?;
                continue;
            }
            let value = scanner.value()?;
            let (name, member) = match &*key {
                "jsonrpc" => ("jsonrpc", &mut parts.jsonrpc),
                "id" => ("id", &mut parts.id),
                "method" => ("method", &mut parts.method),
                "result" => {
                    parts.read_response(Ok(value));
                    continue;
                }
                "error" => {
                    parts.read_response(Err(value));
                    continue;
                }
                _ => continue,
            };
            if member.replace(value).is_some() {
                parts.repeated = Some(name);
            }
        }
        Ok(parts)
    }

    fn read_params(&mut self, scanner: &mut Scanner<'a>) -> Result<(), SyntaxError> {
        if scanner.peek() != Some(b'{') {
            self.invalid_params = true;
            return scanner.value().map(drop);
        }
        if self.params.replace(Params::scan(scanner)?).is_some() {
            self.repeated = Some("params");
        }
        Ok(())
    }

    fn read_response(&mut self, response: Result<&'a str, &'a str>) {
        if self.response.replace(response).is_some() {
            self.repeated = Some("result or error");
        }
    }

    /// Returns the message if it is well-formed. An error response omits an id of more than `max_id_bytes` bytes.
    fn into_message(self, max_id_bytes: usize) -> Result<Message<'a>, Invalid<'a>> {
        let is_id_too_long = self.id.is_some_and(|id| id.len() > max_id_bytes);
        let id = self.id.filter(|id| !is_id_too_long && is_request_id(id));
        let invalid = |message: String| {
            Err(Invalid {
                id,
                error: RpcError::invalid_request(message),
            })
        };
        if let Some(name) = self.repeated {
            return invalid(format!("member `{name}` is given twice"));
        }
        if self.jsonrpc != Some("\"2.0\"") {
            return invalid("`jsonrpc` is not \"2.0\"".to_owned());
        }
        if is_id_too_long {
            return invalid(format!("`id` is longer than {max_id_bytes} bytes"));
        }
        if self.id.is_some() && id.is_none() {
            return invalid("`id` is neither a string nor an integer".to_owned());
        }
        if self.invalid_params {
            return invalid("`params` is not an object".to_owned());
        }
        let params = self.params.unwrap_or_default();
        match (id, self.method.map(as_string), self.response) {
            (Some(id), Some(Some(method)), None) => {
                Ok(Message::Request(id, Envelope { method, params }))
            }
            (None, Some(Some(method)), None) => {
                Ok(Message::Notification(Envelope { method, params }))
            }
            (Some(id), None, Some(response)) => Ok(Message::Response(id, response)),
            (_, Some(None), _) => invalid("`method` is not a string".to_owned()),
            (_, None, _) => invalid("`method` is missing".to_owned()),
            (_, Some(_), Some(_)) => {
                invalid("a message has a `method` or a `result` or `error`, not both".to_owned())
            }
        }
    }
}

/// Returns true if a checked JSON value is a valid request id: a string or an integer.
fn is_request_id(text: &str) -> bool {
    match text.as_bytes() {
        [b'"', ..] => true,
        [b'-' | b'0'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits::default()
            .message_depth(8)
            .request_id_bytes(6)
            .batch_messages(2)
    }

    fn outcome(text: &str) -> String {
        match parse(text.as_bytes(), &limits()) {
            Body::Batch(messages) => format!("batch of {}", messages.len()),
            Body::One(Ok(Message::Request(id, envelope))) => {
                format!("request {id} {}", envelope.method)
            }
            Body::One(Ok(Message::Notification(envelope))) => {
                format!("notification {}", envelope.method)
            }
            Body::One(Ok(Message::Response(id, outcome))) => format!("response {id} {outcome:?}"),
            Body::One(Err(invalid)) => format!("{:?} {}", invalid.id, invalid.error),
        }
    }

    /// Messages and their expected outcomes.
    const MESSAGES: [(&str, &str); 23] = [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "request 1 ping",
        ),
        (
            r#"{"params":{},"method":"a\/b","id":"x","jsonrpc":"2.0"}"#,
            "request \"x\" a/b",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "notification notifications/initialized",
        ),
        (
            r#"{"jsonrpc":"2.0","id":-7,"result":{}}"#,
            "response -7 Ok(\"{}\")",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":1}}"#,
            r#"response "a" Err("{\"code\":1}")"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#,
            "Some(\"1\") member `result or error` is given twice (code -32600)",
        ),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 3]"#,
            "batch of 2",
        ),
        ("[1,2,3,4,5]", "batch of 3"),
        (
            "[1,2,3,4,5",
            "None not valid JSON: expected `,` or `]` at byte 10 (code -32700)",
        ),
        ("[]", "batch of 0"),
        ("3", "None a message is a JSON object (code -32600)"),
        (
            "{",
            "None not valid JSON: expected a key in double quotes at byte 1 (code -32700)",
        ),
        (
            r#"{"id":1,"method":"ping"}"#,
            "Some(\"1\") `jsonrpc` is not \"2.0\" (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            "None `id` is neither a string nor an integer (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            "None `id` is neither a string nor an integer (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"abcd","method":"a"}"#,
            "request \"abcd\" a",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"abcde","method":"a"}"#,
            "None `id` is longer than 6 bytes (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1234567,"result":{}}"#,
            "None `id` is longer than 6 bytes (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#,
            "Some(\"2\") member `id` is given twice (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
            "Some(\"1\") `params` is not an object (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            "Some(\"1\") `method` is not a string (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1}"#,
            "Some(\"1\") `method` is missing (code -32600)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[[[[[[[[1]]]]]]]]}"#,
            "None not valid JSON: nested too deeply at byte 54 (code -32700)",
        ),
    ];

    #[test]
    fn messages_are_classified() {
        for (text, expected) in MESSAGES {
            assert_eq!(outcome(text), expected, "{text}");
        }
        assert!(
            matches!(parse(b"\xff", &limits()), Body::One(Err(invalid)) if invalid.error.code == -32700)
        );
    }
}
