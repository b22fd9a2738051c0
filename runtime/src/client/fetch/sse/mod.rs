//! Server-sent events, read from pieces of any size.

use std::time::Duration;

use http::HeaderValue;
use memchr::memchr2;

/// The longest value of a field other than `data`; nothing that matters is longer.
const LONGEST: usize = 1024;

/// Bytes of an event that are kept if it is too long.
const HEAD: usize = 256;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The longest name of a field that means something.
const LONGEST_NAME: usize = 5;

/// What has come out of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message, which may be empty.
    Message(Vec<u8>),
    /// The address that HTTP+SSE of 2024-11-05 begins with.
    Endpoint(Vec<u8>),
    /// The data of an event of another type.
    Other(Vec<u8>),
    /// An event has more data than it may have, and is skipped but for the beginning of that.
    TooLong(Vec<u8>),
}

/// Where a stream is, so that it can be taken up again there.
#[derive(Clone, Debug, Default)]
pub struct Position {
    /// The id of the last event.
    pub id: Option<HeaderValue>,
    /// How long the server wants a client to wait.
    pub retry: Option<Duration>,
    /// Whether an event has come since this was last looked at.
    pub moved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The byte order mark that a stream may begin with, of which so much has come.
    Mark(usize),
    /// The name of a field, which is at the beginning of `name`.
    Name(usize),
    /// The space that may stand before a value.
    Space(Field),
    Value(Field),
    /// A comment, or a field that means nothing.
    Ignored,
}

/// Reads the events of one stream. It keeps at most one event, and no comments.
#[derive(Debug)]
pub struct Parser {
    most: usize,
    state: State,
    name: [u8; LONGEST_NAME],
    /// A line has ended with a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
    /// The beginning of the value of a field other than `data`.
    value: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The data is longer than it may be; that is told once, and as soon as it is known.
    too_long: bool,
    tell_too_long: bool,
    /// The beginning of that data.
    head: Vec<u8>,
    kind: Kind,
    /// The id of the event that is being read, and of those after it.
    id: Option<HeaderValue>,
    /// Position in the stream, after the last event.
    pub position: Position,
}

impl Parser {
    /// Begins a stream that goes on from `position`; an event has at most `most` bytes of data.
    pub fn new(most: usize, position: Position) -> Self {
        Self {
            most,
            state: State::Mark(0),
            name: [0; LONGEST_NAME],
            after_return: false,
            value: Vec::new(),
            data: None,
            too_long: false,
            head: Vec::new(),
            tell_too_long: false,
            kind: Kind::default(),
            id: position.id.clone(),
            position,
        }
    }

    /// The next event that ends within `input`, which is taken up to there; without one, all of it is taken.
    pub fn next(&mut self, input: &mut &[u8]) -> Option<Event> {
        while let Some(&byte) = input.first() {
            if std::mem::take(&mut self.after_return) && byte == b'\n' {
                *input = &input[1..];
            } else if matches!(byte, b'\r' | b'\n') {
                *input = &input[1..];
                self.after_return = byte == b'\r';
                if let Some(event) = self.end_line() {
                    return Some(event);
                }
            } else {
                self.take(byte, input);
            }
            if std::mem::take(&mut self.tell_too_long) {
                let head = std::mem::take(&mut self.head);
                return Some(Event::TooLong(head));
            }
        }
        None
    }

    /// Takes one byte or more of a line, or only goes to another state.
    fn take(&mut self, byte: u8, input: &mut &[u8]) {
        let state = match self.state {
            State::Mark(at) if byte == BYTE_ORDER_MARK[at] => {
                *input = &input[1..];
                let whole = at + 1 == BYTE_ORDER_MARK.len();
                if whole {
                    State::Name(0)
                } else {
                    State::Mark(at + 1)
                }
            }
            State::Mark(0) => State::Name(0),
            // Half a mark is the beginning of a name that means nothing.
            State::Mark(_) => State::Ignored,
            State::Name(LONGEST_NAME) if byte != b':' => State::Ignored,
            State::Name(length) => {
                *input = &input[1..];
                self.name_byte(byte, length)
            }
            State::Space(field) => {
                if byte == b' ' {
                    *input = &input[1..];
                }
                State::Value(field)
            }
            State::Value(_) | State::Ignored => return self.take_rest(input),
        };
        self.state = state;
    }

    fn name_byte(&mut self, byte: u8, length: usize) -> State {
        if byte == b':' {
            return self
                .begin_value(length)
                .map_or(State::Ignored, State::Space);
        }
        self.name[length] = byte;
        State::Name(length + 1)
    }

    /// Takes the rest of a line, as far as it is there.
    fn take_rest(&mut self, input: &mut &[u8]) {
        let end = memchr2(b'\r', b'\n', input).unwrap_or(input.len());
        let (part, rest) = input.split_at(end);
        *input = rest;
        match self.state {
            State::Value(Field::Data) => self.push_data(part),
            State::Value(_) => {
                // One byte more than may be shows that there was more.
                let room = (LONGEST + 1).saturating_sub(self.value.len());
                self.value.extend_from_slice(&part[..part.len().min(room)]);
            }
            _ => {}
        }
    }

    fn push_data(&mut self, part: &[u8]) {
        let data = self.data.get_or_insert_default();
        if self.too_long {
            return;
        }
        if data.len() + part.len() <= self.most {
            data.extend_from_slice(part);
        } else {
            let mut head = std::mem::take(data);
            let most = HEAD.min(self.most);
            head.truncate(most);
            head.shrink_to_fit();
            head.extend_from_slice(&part[..part.len().min(most - head.len())]);
            self.head = head;
            self.too_long = true;
            self.tell_too_long = true;
        }
    }

    /// The field of the name that has ended, if it means something. Its value follows.
    fn begin_value(&mut self, length: usize) -> Option<Field> {
        let field = match &self.name[..length] {
            b"data" => Field::Data,
            b"event" => Field::Event,
            b"id" => Field::Id,
            b"retry" => Field::Retry,
            _ => return None,
        };
        self.value.clear();
        if field == Field::Data {
            let further = self.data.is_some();
            self.push_data(if further { b"\n" } else { b"" });
        }
        Some(field)
    }

    fn end_line(&mut self) -> Option<Event> {
        let field = match std::mem::replace(&mut self.state, State::Name(0)) {
            State::Name(0) | State::Mark(0) => return self.end_event(),
            State::Name(length) => self.begin_value(length),
            State::Space(field) | State::Value(field) => Some(field),
            State::Mark(_) | State::Ignored => None,
        };
        match field? {
            Field::Data => {}
            Field::Event => self.kind = Kind::of(&self.value),
            Field::Id => self.end_id(),
            Field::Retry => {
                let digits = std::str::from_utf8(&self.value).ok();
                let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                if let Some(retry) = digits.and_then(|digits| digits.parse().ok()) {
                    self.position.retry = Some(Duration::from_millis(retry));
                }
            }
        }
        None
    }

    fn end_id(&mut self) {
        if !self.value.contains(&0) {
            // A stream with an id that cannot be sent cannot be taken up again.
            let known = !self.value.is_empty() && self.value.len() <= LONGEST;
            let id = known.then(|| HeaderValue::from_bytes(&self.value).ok());
            self.id = id.flatten();
        }
    }

    fn end_event(&mut self) -> Option<Event> {
        self.position.moved |= self.data.is_some() || self.position.id != self.id;
        self.position.id.clone_from(&self.id);
        let kind = std::mem::take(&mut self.kind);
        let too_long = std::mem::take(&mut self.too_long);
        let data = self.data.take().filter(|_| !too_long)?;
        match kind {
            Kind::Message => Some(Event::Message(data)),
            Kind::Endpoint => Some(Event::Endpoint(data)),
            Kind::Other => Some(Event::Other(data)),
        }
    }
}

/// The type of an event.
#[derive(Clone, Copy, Debug, Default)]
enum Kind {
    #[default]
    Message,
    Endpoint,
    Other,
}

impl Kind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"" | b"message" => Self::Message,
            b"endpoint" => Self::Endpoint,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
