//! Events of streams, whole and in parts, and malformed ones.

use super::*;

/// Parses a stream that arrives in `chunks`.
fn parse<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    max_bytes: usize,
) -> (Vec<Event>, Position) {
    let mut parser = Parser::new(max_bytes, Position::default());
    let mut events = Vec::new();
    for mut chunk in chunks {
        while let Some(event) = parser.next(&mut chunk) {
            events.push(event);
        }
        assert!(chunk.is_empty(), "a chunk is consumed completely");
    }
    (events, parser.position)
}

fn message(text: &str) -> Event {
    Event::Message(text.into())
}

#[test]
fn streams_are_parsed_by_the_standard() {
    let cases: [(&str, &[&str]); 18] = [
        ("data: a\n\n", &["a"]),
        ("data:a\r\n\r\ndata: b\r\rdata:  c\n\n", &["a", "b", " c"]),
        ("data: a\r\n\ndata: b\n\r\n", &["a", "b"]),
        ("data: a\ndata\ndata:\ndata: b\n\n", &["a\n\n\nb"]),
        ("data\n\n", &[""]),
        ("data: a", &[]),
        ("data: a\n", &[]),
        (": CLI-HTTP-06\n:\ndata: a\n:x\n\n:\n\n", &["a"]),
        ("\u{feff}data: a\n\n", &["a"]),
        ("\u{feff}\u{feff}data: a\n\n", &[]),
        (" data: a\n\n", &[]),
        ("Data: a\ndatas: b\ndat: c\nfoo\n\n", &[]),
        ("event: message\ndata: a\n\n", &["a"]),
        ("event: ping\nevent\ndata: a\n\n", &["a"]),
        ("event: x\n\ndata: a\n\n", &["a"]),
        ("data: a: b:c \n\n", &["a: b:c "]),
        ("\n\n\n", &[]),
        ("data: ø\0\n\n", &["ø\0"]),
    ];
    for (stream, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|text| message(text)).collect();
        assert_eq!(parse([stream.as_bytes()], 100).0, expected, "{stream:?}");
    }
    let other = parse([b"event: ping\ndata: a\n\ndata: b\n\n".as_slice()], 100).0;
    assert_eq!(other, [Event::Other(b"a".to_vec()), message("b")]);
    let endpoint = parse([b"event: endpoint\ndata: /x\n\n".as_slice()], 100).0;
    assert_eq!(endpoint, [Event::Endpoint(b"/x".to_vec())], "SRV-SSE-02");
}

#[test]
fn the_position_is_that_of_the_last_complete_event() {
    let long = format!("id: 1\n\nid: {}\n\n", "x".repeat(MAX_VALUE_BYTES + 1));
    let cases: [(&str, Option<&str>, Option<u64>); 11] = [
        ("id: 1\nretry: 500\ndata:\n\n", Some("1"), Some(500)),
        ("id: 1\n\nid: 2\ndata: a\n", Some("1"), None),
        ("id: 1\n\ndata: a\n\n", Some("1"), None),
        ("id: 1\n\nid\n\n", None, None),
        ("id: 1\n\nid: a\0b\n\n", Some("1"), None),
        ("id: 1\n\nid: a\u{7}b\n\n", None, None),
        (&long, None, None),
        ("retry: 1\nretry: 2x\nretry: -3\nretry\n\n", None, Some(1)),
        ("retry: 99999999999999999999\n\n", None, None),
        ("retry: 7\n", None, Some(7)),
        ("id:1\nid:2\n\n", Some("2"), None),
    ];
    for (stream, id, retry) in cases {
        let position = parse([stream.as_bytes()], 100).1;
        let got = position.id.as_ref().map(|id| id.to_str().unwrap());
        let wait = position.retry.map(|retry| retry.as_millis());
        assert_eq!((got, wait), (id, retry.map(u128::from)), "{stream:?}");
    }
}

#[test]
fn an_oversized_event_is_reported_once_and_skipped() {
    let stream = b"id: 1\ndata: 12345\ndata: 6789\ndata: 0\n\ndata: 123\ndata: 56\n\n";
    let (events, position) = parse([stream.as_slice()], 6);
    let head = b"12345\n".to_vec();
    let mut edges = Edges::default();
    edges.push(b"12345\n6789\n0");
    assert_eq!(
        events,
        [
            Event::TooLong(head),
            Event::Skipped(edges),
            message("123\n56")
        ]
    );
    assert_eq!(position.id.unwrap(), "1");
    let empty = "data\n".repeat(100);
    let events = parse([empty.as_bytes()], 6).0;
    assert_eq!(events, [Event::TooLong(b"\n".repeat(6))]);
}

#[test]
fn unfinished_fields_take_bounded_memory() {
    let mut parser = Parser::new(10, Position::default());
    for line in [": ", "event: ", "id: ", "unknown: ", "data: "] {
        let mut input = line.as_bytes();
        assert_eq!(parser.next(&mut input), None);
        for _ in 0..100 {
            let mut input: &[u8] = &[b'x'; 10_000];
            while parser.next(&mut input).is_some() {}
        }
        let buffered = parser.value.capacity() + parser.data.as_ref().map_or(0, Vec::capacity);
        assert!(buffered <= 4 * MAX_VALUE_BYTES, "{line}: {buffered}");
        while parser.next(&mut b"\n\n".as_slice()).is_some() {}
    }
}

/// Random stream of field names, values and line ends.
fn random_stream(random: &mut fastrand::Rng) -> Vec<u8> {
    const PARTS: [&str; 18] = [
        "data", "data: ", ":", " ", "\n", "\r", "\r\n", "\n\n", "id: ", "event: ", "retry: ", "12",
        "endpoint", "message", "\u{feff}", "\0", "ø", "x",
    ];
    let parts = 0..random.usize(0..60);
    let parts = parts.map(|_| PARTS[random.usize(0..PARTS.len())]);
    parts.collect::<String>().into_bytes()
}

/// Reference implementation for a complete stream, close to the text of the standard.
fn parse_complete(stream: &[u8]) -> Vec<Event> {
    let text = String::from_utf8(stream.to_vec()).unwrap();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<_> = text.split('\n').collect();
    lines.pop();
    let (mut data, mut name, mut events) = (None, "", Vec::new());
    for line in lines {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                let name = std::mem::take(&mut name);
                let data: Option<String> = data.take();
                match (data, name) {
                    (Some(data), "" | "message") => events.push(Event::Message(data.into())),
                    (Some(data), "endpoint") => events.push(Event::Endpoint(data.into())),
                    (Some(data), _) => events.push(Event::Other(data.into())),
                    (None, _) => {}
                }
            }
            "data" => {
                data = Some(match data {
                    Some(data) => data + "\n" + value,
                    None => value.to_owned(),
                });
            }
            "event" => name = value,
            _ => {}
        }
    }
    events
}

#[test]
fn chunk_boundaries_do_not_change_the_events() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let stream = random_stream(&mut random);
        let max_bytes = if random.bool() { 4 } else { 10_000 };
        let (expected, position) = parse([stream.as_slice()], max_bytes);
        if max_bytes > stream.len() {
            assert_eq!(expected, parse_complete(&stream), "{stream:?}");
        }
        let (mut chunks, mut rest) = (Vec::new(), stream.as_slice());
        while !rest.is_empty() {
            let (chunk, others) = rest.split_at(random.usize(0..=rest.len().min(5)));
            chunks.push(chunk);
            rest = others;
        }
        let (events, same) = parse(chunks, max_bytes);
        assert_eq!(events, expected, "{stream:?}");
        assert_eq!(format!("{same:?}"), format!("{position:?}"), "{stream:?}");
    }
}
