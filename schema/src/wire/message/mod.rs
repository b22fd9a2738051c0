//! One JSON-RPC message: what it is, with its parameters left as text.

mod invalid;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::str::FromStr;

pub use self::invalid::Invalid;
use crate::Method;
use crate::wire::{DEEPEST, Params, RpcError, Scanner, SyntaxError, as_string};

/// What one line or body holds.
#[derive(Debug)]
pub enum Body<'a> {
    /// One message.
    One(Result<Message<'a>, Invalid<'a>>),
    /// A batch: the texts of its messages, each one checked JSON.
    Batch(Vec<&'a str>),
}

/// One message of a valid form.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request: the text of its id, and its envelope.
    Request(&'a str, Envelope<'a>),
    /// A notification.
    Notification(Envelope<'a>),
    /// An answer to a request of ours: the text of its id, and the text of the result or the error.
    Response(&'a str, Result<&'a str, &'a str>),
}

/// Members that requests and notifications share.
#[derive(Debug)]
pub struct Envelope<'a> {
    /// Method of the request or notification.
    pub method: Cow<'a, str>,
    /// The method, if any revision defines it.
    pub known: Option<Method>,
    /// The parameters.
    pub params: Params<'a>,
}

impl<'a> Envelope<'a> {
    #[inline]
    fn new(method: Cow<'a, str>, params: Params<'a>) -> Self {
        Self {
            known: Method::from_name(&method),
            method,
            params,
        }
    }
}

impl Envelope<'_> {
    /// The parameters as JSON text, `{}` if there are none.
    pub fn params_text(&self) -> &str {
        self.params.text.unwrap_or("{}")
    }
}

/// Bounds of one line or body.
#[derive(Clone, Copy, Debug)]
pub struct ParseLimits {
    /// Nesting of the message; a deeper one is rejected.
    pub depth: u32,
    /// Bytes of the id of a request.
    pub id_bytes: usize,
    /// Messages of a batch. Of a longer one, the first message beyond the bound is also returned.
    pub batch_messages: usize,
}

/// Parses one line or body.
pub fn parse(bytes: &[u8], limits: impl Into<ParseLimits>) -> Body<'_> {
    parse_with_known_meta(bytes, limits.into(), "")
}

/// Parses one line or body of a peer whose last `_meta` was `meta`. Most requests repeat it, and it is then not checked again.
pub fn parse_with_known_meta<'a>(bytes: &'a [u8], limits: ParseLimits, meta: &'a str) -> Body<'a> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_text(text, limits, meta),
        Err(error) => Body::One(Err(Invalid {
            id: None,
            answered: None,
            is_unread: true,
            is_notification: false,
            error: Box::new(RpcError::new(
                crate::error_code::PARSE_ERROR,
                format!("not UTF-8 at byte {}", error.valid_up_to()),
            )),
        })),
    }
}

fn parse_text<'a>(text: &'a str, limits: ParseLimits, meta: &'a str) -> Body<'a> {
    let mut scanner = Scanner::new(text, limits.depth).with_known(meta);
    if scanner.peek() == Some(b'[') {
        return match elements(&mut scanner, limits.batch_messages) {
            Ok(messages) => Body::Batch(messages),
            Err(error) => Body::One(Err(Invalid::unread(error, text, limits))),
        };
    }
    Body::One(parse_message(text, scanner, limits))
}

/// Parses one message of a batch, whose JSON has been checked already.
pub fn parse_element(
    text: &str,
    limits: impl Into<ParseLimits>,
) -> Result<Message<'_>, Invalid<'_>> {
    parse_message(text, Scanner::new(text, DEEPEST), limits.into())
}

fn elements<'a>(scanner: &mut Scanner<'a>, most: usize) -> Result<Vec<&'a str>, SyntaxError> {
    let mut elements = Vec::new();
    scanner.open_array()?;
    while let Some(element) = scanner.next_element(elements.is_empty())? {
        if elements.len() <= most {
            elements.push(element);
        }
    }
    scanner.end()?;
    Ok(elements)
}

/// The members of an envelope, as texts.
#[derive(Default)]
struct Parts<'a> {
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Params<'a>,
    has_params: bool,
    /// `params` is something other than an object or `null`, which some peers send for no parameters.
    misshapen_params: bool,
    answer: Option<Result<&'a str, &'a str>>,
    repeated: Option<&'static str>,
}

fn parse_message<'a>(
    text: &'a str,
    mut scanner: Scanner<'a>,
    limits: ParseLimits,
) -> Result<Message<'a>, Invalid<'a>> {
    let unread = |error| Invalid::unread(error, text, limits);
    if scanner.peek() != Some(b'{') {
        // A text that is not even JSON is a parse error; other JSON is not a message.
        scanner.value().map_err(unread)?;
        scanner.end().map_err(unread)?;
        return Err(Invalid {
            id: None,
            answered: None,
            is_unread: false,
            is_notification: false,
            error: Box::new(RpcError::invalid_request("a message is a JSON object")),
        });
    }
    let parts = Parts::read(&mut scanner).map_err(unread)?;
    scanner.end().map_err(unread)?;
    parts.into_message(limits.id_bytes)
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
                    parts.read_answer(Ok(value));
                    continue;
                }
                "error" => {
                    parts.read_answer(Err(value));
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
        if std::mem::replace(&mut self.has_params, true) {
            self.repeated = Some("params");
        }
        if scanner.peek() != Some(b'{') {
            self.misshapen_params |= scanner.value()? != "null";
            return Ok(());
        }
        self.params.fill(scanner)
    }

    fn read_answer(&mut self, answer: Result<&'a str, &'a str>) {
        if self.answer.replace(answer).is_some() {
            self.repeated = Some("result or error");
        }
    }

    /// The message, if it has the form of one; an id of more than `most` bytes is not even repeated.
    fn into_message(self, most: usize) -> Result<Message<'a>, Invalid<'a>> {
        let is_long = self.id.is_some_and(|id| id.len() > most);
        let id = self.id.filter(|id| !is_long && is_request_id(id));
        let invalid = |message: String| {
            let is_response = self.method.is_none() && self.answer.is_some();
            Err(Invalid {
                id: id.filter(|_| !is_response),
                answered: id.filter(|_| is_response),
                is_unread: false,
                is_notification: self.id.is_none() && self.method.is_some(),
                error: Box::new(RpcError::invalid_request(message)),
            })
        };
        if let Some(name) = self.repeated {
            return invalid(format!("member `{name}` is given twice"));
        }
        if !self.jsonrpc.is_some_and(is_version) {
            return invalid("`jsonrpc` is not \"2.0\"".to_owned());
        }
        if is_long {
            return invalid(format!("`id` is longer than {most} bytes"));
        }
        if self.id.is_some() && id.is_none() {
            return invalid("`id` is neither a string nor an integer".to_owned());
        }
        if self.misshapen_params {
            return invalid("`params` is not an object".to_owned());
        }
        let params = self.params;
        match (id, self.method.map(as_string), self.answer) {
            (Some(id), Some(Some(method)), None) => {
                Ok(Message::Request(id, Envelope::new(method, params)))
            }
            (None, Some(Some(method)), None) => {
                Ok(Message::Notification(Envelope::new(method, params)))
            }
            (Some(id), None, Some(answer)) => Ok(Message::Response(id, answer)),
            (_, Some(None), _) => invalid("`method` is not a string".to_owned()),
            (_, None, _) => invalid("`method` is missing".to_owned()),
            (_, Some(_), Some(_)) => {
                invalid("a message has a `method` or an answer, not both".to_owned())
            }
        }
    }
}

/// Returns whether a checked JSON value is the version of JSON-RPC, which may be written with escapes.
fn is_version(text: &str) -> bool {
    text == "\"2.0\"" || as_string(text).is_some_and(|version| version == "2.0")
}

/// Returns whether a checked JSON value may be the id of a request: a string or an integer, which may be written as `1.0`.
pub(super) fn is_request_id(text: &str) -> bool {
    match text.as_bytes() {
        [b'"', ..] => true,
        [b'-' | b'0'..=b'9', rest @ ..] => {
            rest.iter().all(u8::is_ascii_digit) || whole_digits(text).is_some()
        }
        _ => false,
    }
}

/// Returns the integer that a text such as `1.0` is, without its fraction.
#[cold]
fn whole_digits(text: &str) -> Option<&str> {
    let (integer, fraction) = text.split_once('.')?;
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    is_whole.then_some(integer)
}

/// Returns the integer id of a request from a response. Some peers write it as `1.0` or as a string.
#[inline]
pub fn copied_id<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok().or_else(|| rewritten_id(text))
}

#[cold]
fn rewritten_id<T: FromStr>(text: &str) -> Option<T> {
    match as_string(text) {
        Some(string) => string.parse().ok(),
        None => whole_digits(text)?.parse().ok(),
    }
}
