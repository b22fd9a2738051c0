//! Lenient parser of `WWW-Authenticate`.

use crate::client::challenge::Challenge;

/// Maximum size of all values together, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// Parses the values of all headers.
pub(super) fn parse<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<Challenge> {
    let (mut challenges, mut room) = (Vec::new(), MAX_BYTES);
    for value in values {
        let value = value.as_ref();
        let Some(rest) = room.checked_sub(value.len()) else {
            continue;
        };
        room = rest;
        Parser { rest: value }.parse_into(&mut challenges);
    }
    challenges
}

/// Parser of one header value.
#[derive(Clone, Copy)]
struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn parse_into(mut self, challenges: &mut Vec<Challenge>) {
        let start = challenges.len();
        loop {
            self.skip_while(|byte| is_blank(byte) || byte == b',');
            if self.rest.is_empty() {
                return;
            }
            let name = self.take_while(is_token);
            if name.is_empty() {
                self.skip_malformed();
            } else if self.take_equals() {
                let value = self.take_value(name);
                // A parameter before the first scheme belongs to none.
                if let (Some(value), Some(challenge)) = (value, challenges[start..].last_mut()) {
                    challenge.parameters.push((text(name).into(), value.into()));
                }
            } else {
                challenges.push(Challenge {
                    scheme: text(name).into(),
                    token: self.take_token68().map(|token| text(token).into()),
                    parameters: Vec::new(),
                });
            }
        }
    }

    /// Takes the value of a parameter; `None` if it is malformed.
    fn take_value(&mut self, name: &[u8]) -> Option<String> {
        if self.rest.first() == Some(&b'"') {
            return self.take_quoted();
        }
        let start = self.rest;
        self.take_while(is_unquoted);
        if name.eq_ignore_ascii_case(b"scope") {
            self.take_more_scopes();
        }
        let value = &start[..start.len() - self.rest.len()];
        let is_allowed = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'"';
        value.iter().all(is_allowed).then(|| text(value).to_owned())
    }

    /// Takes the further scopes of a list without quotes, which some servers send. Without a comma after them, the last one may
    /// be the scheme of another challenge or the name of a parameter, so none is taken.
    fn take_more_scopes(&mut self) {
        let mut ahead = *self;
        loop {
            ahead.skip_while(is_blank);
            if matches!(ahead.rest, [] | [b',', ..]) {
                *self = ahead;
                return;
            }
            let word = ahead.take_while(is_unquoted);
            if word.iter().any(|byte| matches!(byte, b'=' | b'"')) {
                return;
            }
        }
    }

    /// Takes a quoted string; `None` if it does not end, or contains a control character or text that is not UTF-8.
    fn take_quoted(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let mut rest = self.rest[1..].iter().copied();
        let is_complete = loop {
            match rest.next() {
                None => break false,
                Some(b'"') => break true,
                Some(b'\\') => bytes.extend(rest.next()),
                Some(byte) => bytes.push(byte),
            }
        };
        self.rest = &self.rest[self.rest.len() - rest.len()..];
        let value = String::from_utf8(bytes).ok().filter(|_| is_complete)?;
        (!value.chars().any(char::is_control)).then_some(value)
    }

    /// Takes a token in place of parameters, as in `Negotiate YWJj==`.
    fn take_token68(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        ahead.skip_while(is_blank);
        let start = ahead.rest;
        let length = ahead.take_while(is_token68).len();
        ahead.skip_while(|byte| byte == b'=');
        let token = &start[..start.len() - ahead.rest.len()];
        ahead.skip_while(is_blank);
        if length == 0 || !matches!(ahead.rest, [] | [b',', ..]) {
            return None;
        }
        *self = ahead;
        Some(token)
    }

    /// Takes `=` and the blanks around it.
    fn take_equals(&mut self) -> bool {
        let mut ahead = *self;
        ahead.skip_while(is_blank);
        let Some((b'=', rest)) = ahead.rest.split_first() else {
            return false;
        };
        ahead.rest = rest;
        ahead.skip_while(is_blank);
        *self = ahead;
        true
    }

    /// Skips bytes that start neither a scheme nor a parameter.
    fn skip_malformed(&mut self) {
        if self.rest.first() == Some(&b'"') {
            // Its text must not be read as parameters.
            self.take_quoted();
        } else {
            self.rest = &self.rest[1..];
        }
    }

    fn skip_while(&mut self, condition: impl Fn(u8) -> bool) {
        self.take_while(condition);
    }

    fn take_while(&mut self, condition: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !condition(*byte));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}

/// Converts bytes that were checked to be ASCII.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_unquoted(byte: u8) -> bool {
    !is_blank(byte) && byte != b','
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte)
}
