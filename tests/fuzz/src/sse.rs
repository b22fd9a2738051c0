//! Reader of event streams, against a reference that reads the complete stream.

use http::HeaderValue;
use treenail_http_client::sse::{Edges, Event, Parser, Position};

/// Longest id and number of a retry, in bytes.
const MAX_VALUE_BYTES: usize = 1024;

/// The first byte is the limit of an event, the second one the size of the pieces. The rest is the stream.
pub(crate) fn run(data: &[u8]) {
    let [limit, piece, stream @ ..] = data else {
        return;
    };
    let limit = usize::from(*limit);
    let expected = Reference::read(stream, limit);
    let mut parser = Parser::new(limit, Position::default());
    let mut events = Vec::new();
    for mut piece in stream.chunks(usize::from(*piece) + 1) {
        while let Some(event) = parser.next(&mut piece) {
            events.push(event);
        }
        assert!(piece.is_empty());
    }
    assert_eq!(events, expected.events);
    let retry = parser.position.retry.map(|retry| retry.as_millis());
    assert_eq!(retry, expected.retry.map(u128::from));
    assert_eq!(parser.position.id, expected.last_id);
}

/// State of the reference, as the HTML standard describes it.
#[derive(Default)]
struct Reference {
    events: Vec<Event>,
    data: Option<Vec<u8>>,
    kind: Vec<u8>,
    id: Option<HeaderValue>,
    last_id: Option<HeaderValue>,
    retry: Option<u64>,
    limit: usize,
    too_long: bool,
}

impl Reference {
    fn read(stream: &[u8], limit: usize) -> Self {
        let mut reference = Self {
            limit,
            ..Self::default()
        };
        let mut rest = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            let (line, end) = rest.split_at(at);
            rest = end.strip_prefix(b"\r\n").unwrap_or(&end[1..]);
            reference.line(line);
        }
        // The data of an event counts as soon as it arrives.
        if rest.starts_with(b"data:") {
            reference.line(rest);
        }
        reference
    }

    fn line(&mut self, line: &[u8]) {
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.push(value),
            b"event" => self.kind = value.to_vec(),
            b"id" if value.len() > MAX_VALUE_BYTES => self.id = None,
            b"id" if !value.contains(&0) => {
                let id = HeaderValue::from_bytes(value).ok();
                self.id = id.filter(|_| !value.is_empty());
            }
            b"retry" if value.len() <= MAX_VALUE_BYTES => {
                let text = std::str::from_utf8(value).unwrap_or_default();
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let retry = digits.then(|| text.parse().ok()).flatten();
                self.retry = retry.or(self.retry);
            }
            _ => {}
        }
    }

    fn push(&mut self, value: &[u8]) {
        let is_first = self.data.is_none();
        let data = self.data.get_or_insert_default();
        data.extend_from_slice(if is_first { b"" } else { b"\n" });
        data.extend_from_slice(value);
        if data.len() > self.limit && !self.too_long {
            self.too_long = true;
            let head = data[..self.limit.min(256)].to_vec();
            self.events.push(Event::TooLong(head));
        }
    }

    fn end_event(&mut self) {
        self.last_id.clone_from(&self.id);
        let kind = std::mem::take(&mut self.kind);
        let too_long = std::mem::take(&mut self.too_long);
        let Some(data) = self.data.take() else {
            return;
        };
        self.events.push(match &*kind {
            _ if too_long => {
                let mut edges = Edges::default();
                edges.push(&data);
                Event::Skipped(edges)
            }
            b"" | b"message" => Event::Message(data),
            b"endpoint" => Event::Endpoint(data),
            _ => Event::Other(data),
        });
    }
}
