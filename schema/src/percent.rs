//! Percent-decoding of parts of URIs (RFC 3986).

use std::borrow::Cow;

/// Decodes percent-encoded octets. A `%` without two hexadecimal digits is literal. Returns `None` if the result is not
/// UTF-8.
pub fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octet = match (first, tail) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        if let Some((high, low)) = octet {
            decoded.push(high << 4 | low);
            rest = &tail[2..];
        } else {
            decoded.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

fn digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_decoded_and_other_percent_signs_are_literal() {
        let cases = [
            ("", Some("")),
            ("a/b", Some("a/b")),
            ("%C3%a9%2Fx", Some("é/x")),
            ("100%", Some("100%")),
            ("%4", Some("%4")),
            ("%zz%41", Some("%zzA")),
            ("%+1%é", Some("%+1%é")),
            ("%25%32%35", Some("%25")),
            ("%ff", None),
        ];
        for (text, decoded) in cases {
            assert_eq!(percent_decode(text).as_deref(), decoded, "{text}");
        }
    }
}
