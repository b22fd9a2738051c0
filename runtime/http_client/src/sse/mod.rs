//! Parser of server-sent events, for chunks of any size.

use std::time::Duration;

use http::HeaderValue;
use memchr::memchr2;
pub use treenail_schema::internal::wire::Edges;

/// Maximum length of the value of a field other than `data`, in bytes. Longer values are not useful.
const MAX_VALUE_BYTES: usize = 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Length of the longest known field name.
const MAX_NAME_BYTES: usize = 5;

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message, possibly empty.
    Message(Vec<u8>),
    /// The endpoint to post to, first event of HTTP+SSE of 2024-11-05.
    Endpoint(Vec<u8>),
    /// The data of an event of another type.
    Other(Vec<u8>),
    /// First bytes of the data of an oversized event, as soon as it exceeds the limit. Its data is skipped.
    TooLong(Vec<u8>),
    /// First and last bytes of the data of an oversized event, at its end.
    Skipped(Edges),
}

/// Position in a stream, from which it can be resumed.
#[derive(Clone, Debug, Default)]
pub struct Position {
    /// The id of the last event.
    pub id: Option<HeaderValue>,
    /// Delay before a reconnection, as the server has set it.
    pub retry: Option<Duration>,
    /// True if an event has arrived since this was last reset.
    pub moved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
}

/// Place of the next byte.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The optional byte order mark at the start, after this many of its bytes.
    ByteOrderMark(usize),
    /// The name of a field, after this many of its bytes.
    Name(usize),
    /// The optional space before a value.
    Space(Field),
    Value(Field),
    /// A comment, or an unknown field.
    Ignored,
}

/// Incremental parser of one stream. It buffers at most one event, and no comments.
#[derive(Debug)]
pub struct Parser {
    max_bytes: usize,
    state: State,
    name: [u8; MAX_NAME_BYTES],
    /// The last line ended with a carriage return, so a line feed right after it is part of that line end.
    after_return: bool,
    /// The value of a field other than `data`, truncated.
    value: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The first and last bytes of the data, if it exceeds the limit.
    oversized: Option<Edges>,
    /// The oversized event is still to be reported, without waiting for its end.
    report_too_long: bool,
    kind: Kind,
    /// The id of the event in progress, and of later events without an id of their own.
    id: Option<HeaderValue>,
    /// Position in the stream, after the last event.
    pub position: Position,
}

impl Parser {
    /// Creates a parser for a stream that continues at `position`. An event has at most `max_bytes` bytes of data.
    pub fn new(max_bytes: usize, position: Position) -> Self {
        Self {
            max_bytes,
            state: State::ByteOrderMark(0),
            name: [0; MAX_NAME_BYTES],
            after_return: false,
            value: Vec::new(),
            data: None,
            oversized: None,
            report_too_long: false,
            kind: Kind::default(),
            id: position.id.clone(),
            position,
        }
    }

    /// Returns the next event that ends within `input`, and consumes the input up to that end. Without such an event, it
    /// consumes all input.
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
                self.consume(byte, input);
            }
            if std::mem::take(&mut self.report_too_long) {
                let head = self.oversized.as_ref().map_or(&[][..], Edges::head);
                let length = head.len().min(self.max_bytes);
                return Some(Event::TooLong(head[..length].to_vec()));
            }
        }
        None
    }

    /// Consumes bytes of a line, or only changes the state.
    fn consume(&mut self, byte: u8, input: &mut &[u8]) {
        let state = match self.state {
            State::ByteOrderMark(at) if byte == BYTE_ORDER_MARK[at] => {
                *input = &input[1..];
                let whole = at + 1 == BYTE_ORDER_MARK.len();
                if whole {
                    State::Name(0)
                } else {
                    State::ByteOrderMark(at + 1)
                }
            }
            State::ByteOrderMark(0) => State::Name(0),
            // An incomplete mark starts an unknown field name.
            State::ByteOrderMark(_) => State::Ignored,
            State::Name(MAX_NAME_BYTES) if byte != b':' => State::Ignored,
            State::Name(length) => {
                *input = &input[1..];
                self.push_name_byte(byte, length)
            }
            State::Space(field) => {
                if byte == b' ' {
                    *input = &input[1..];
                }
                State::Value(field)
            }
            State::Value(_) | State::Ignored => return self.consume_rest(input),
        };
        self.state = state;
    }

    fn push_name_byte(&mut self, byte: u8, length: usize) -> State {
        if byte == b':' {
            return self
                .start_value(length)
                .map_or(State::Ignored, State::Space);
        }
        self.name[length] = byte;
        State::Name(length + 1)
    }

    /// Consumes the rest of the line, as far as it has arrived.
    fn consume_rest(&mut self, input: &mut &[u8]) {
        let end = memchr2(b'\r', b'\n', input).unwrap_or(input.len());
        let (part, rest) = input.split_at(end);
        *input = rest;
        match self.state {
            State::Value(Field::Data) => self.push_data(part),
            State::Value(_) => {
                // One byte more than allowed marks the value as too long.
                let room = (MAX_VALUE_BYTES + 1).saturating_sub(self.value.len());
                self.value.extend_from_slice(&part[..part.len().min(room)]);
            }
            _ => {}
        }
    }

    fn push_data(&mut self, part: &[u8]) {
        let data = self.data.get_or_insert_default();
        if let Some(edges) = &mut self.oversized {
            edges.push(part);
        } else if data.len() + part.len() <= self.max_bytes {
            data.extend_from_slice(part);
        } else {
            let mut edges = Edges::default();
            edges.push(&std::mem::take(data));
            edges.push(part);
            self.oversized = Some(edges);
            self.report_too_long = true;
        }
    }

    /// Returns the field with the name that has just ended, if it is known. Its value follows.
    fn start_value(&mut self, length: usize) -> Option<Field> {
        let field = match &self.name[..length] {
            b"data" => Field::Data,
            b"event" => Field::Event,
            b"id" => Field::Id,
            b"retry" => Field::Retry,
            _ => return None,
        };
        self.value.clear();
        if field == Field::Data {
            let has_data = self.data.is_some();
            self.push_data(if has_data { b"\n" } else { b"" });
        }
        Some(field)
    }

    fn end_line(&mut self) -> Option<Event> {
        let field = match std::mem::replace(&mut self.state, State::Name(0)) {
            State::Name(0) | State::ByteOrderMark(0) => return self.end_event(),
            State::Name(length) => self.start_value(length),
            State::Space(field) | State::Value(field) => Some(field),
            State::ByteOrderMark(_) | State::Ignored => None,
        };
        match field? {
            Field::Data => {}
            Field::Event => self.kind = Kind::from_name(&self.value),
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
            // An id that cannot be sent in a header cannot be used to resume the stream.
            let is_usable = !self.value.is_empty() && self.value.len() <= MAX_VALUE_BYTES;
            let id = is_usable.then(|| HeaderValue::from_bytes(&self.value).ok());
            self.id = id.flatten();
        }
    }

    fn end_event(&mut self) -> Option<Event> {
        self.position.moved |= self.data.is_some() || self.position.id != self.id;
        self.position.id.clone_from(&self.id);
        let kind = std::mem::take(&mut self.kind);
        let data = self.data.take()?;
        if let Some(edges) = self.oversized.take() {
            return Some(Event::Skipped(edges));
        }
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
    fn from_name(name: &[u8]) -> Self {
        match name {
            b"" | b"message" => Self::Message,
            b"endpoint" => Self::Endpoint,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
