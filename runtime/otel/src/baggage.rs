//! The W3C format of baggage.

use opentelemetry::baggage::Baggage;

/// Longest baggage that is read, in bytes: the least that the format requires.
const MAX_BYTES: usize = 8192;

/// Reads the entries of `text`, and leaves out those that are invalid. Too long baggage has none.
pub(crate) fn parse(text: &str) -> Baggage {
    let mut baggage = Baggage::new();
    if text.len() > MAX_BYTES {
        return baggage;
    }
    for entry in text.split(',') {
        let (entry, metadata) = entry.split_once(';').unwrap_or((entry, ""));
        let pair = entry.split_once('=');
        let pair = pair.and_then(|(key, value)| Some((key.trim(), decode(value.trim())?)));
        if let Some((key, value)) = pair {
            baggage.insert_with_metadata(key.to_owned(), value, metadata.trim());
        }
    }
    baggage
}

/// Decodes `%` sequences. The result is UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (hex, after) = rest.split_at_checked(2)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let value = digit(hex[0])? * 16 + digit(hex[1])?;
        bytes.push(u8::try_from(value).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn baggage_is_read_and_written() {
        for (text, expected) in [
            ("user=alice,node=DF%2028;p=1", 2),
            ("a=%C3%A4", 1),
            ("a=%", 0),
            ("a=%FF,b", 0),
            ("", 0),
        ] {
            assert_eq!(parse(text).len(), expected, "{text}");
        }
        let baggage = parse("node=DF%2028");
        assert_eq!(baggage.get("node").unwrap().as_str(), "DF 28");
        assert_eq!(baggage.to_string(), "node=DF%2028");
        assert!(parse(&format!("a={}", "x".repeat(9000))).is_empty());
    }
}
