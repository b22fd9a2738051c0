//! Base64 (RFC 4648): encoding in both alphabets, and decoding of short texts.

use std::io::{self, Write};

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns bytes in the alphabet of URLs, without padding.
pub(crate) fn url_safe(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let characters = characters(chunk, URL_SAFE);
        text.extend(characters[..=chunk.len()].iter().copied().map(char::from));
    }
    text
}

/// Four characters for up to three bytes; those after the last byte are meaningless.
fn characters(chunk: &[u8], alphabet: &[u8; 64]) -> [u8; 4] {
    let byte = |index| chunk.get(index).copied().map_or(0, u32::from);
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    [18, 12, 6, 0].map(|shift| alphabet[(bits >> shift & 63) as usize])
}

/// Decodes a text in one alphabet, without padding. The bits after the last byte are zero.
pub(crate) fn decode_url_safe(text: &str) -> Option<Vec<u8>> {
    decode(text, URL_SAFE)
}

/// Decodes a text in either alphabet, with or without padding.
pub(crate) fn decode_lenient(text: &str) -> Option<Vec<u8>> {
    let alphabet = match text.contains(['-', '_']) {
        true => URL_SAFE,
        false => STANDARD,
    };
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if padding > 0 && (padding > 2 || text.len() % 4 != 0) {
        return None;
    }
    decode(digits, alphabet)
}

fn decode(text: &str, alphabet: &[u8; 64]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut bits = 0;
        for character in chunk {
            bits = bits << 6 | digit(*character, alphabet)?;
        }
        let spare = match chunk.len() {
            4 => 0,
            3 => 2,
            2 => 4,
            _ => return None,
        };
        if bits & ((1 << spare) - 1) != 0 {
            return None;
        }
        let decoded = (bits >> spare).to_be_bytes();
        bytes.extend_from_slice(&decoded[5 - chunk.len()..]);
    }
    Some(bytes)
}

/// Returns the value of a character. The time does not depend on the character: texts may be secret keys.
fn digit(character: u8, alphabet: &[u8; 64]) -> Option<u32> {
    let mut found = 0;
    for (value, candidate) in (1..).zip(alphabet) {
        let equal = u32::from(character ^ candidate).wrapping_sub(1) >> 31;
        found |= value * equal;
    }
    u32::checked_sub(found, 1)
}

/// Writer that appends all bytes it gets to a buffer, in the standard alphabet and with padding.
pub(crate) struct Encoder<'b> {
    out: &'b mut Vec<u8>,
    /// Bytes that are not written yet.
    rest: [u8; 3],
    length: usize,
}

impl<'b> Encoder<'b> {
    pub(crate) fn new(out: &'b mut Vec<u8>) -> Self {
        Self {
            out,
            rest: [0; 3],
            length: 0,
        }
    }

    /// Writes the last bytes.
    pub(crate) fn finish(self) {
        if self.length > 0 {
            let mut characters = characters(&self.rest[..self.length], STANDARD);
            characters[self.length + 1..].fill(b'=');
            self.out.extend_from_slice(&characters);
        }
    }
}

impl Write for Encoder<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut bytes_left = bytes;
        while let Some((first, tail)) = bytes_left.split_first() {
            if let (0, Some((chunk, tail))) = (self.length, bytes_left.split_at_checked(3)) {
                self.out.extend_from_slice(&characters(chunk, STANDARD));
                bytes_left = tail;
                continue;
            }
            self.rest[self.length] = *first;
            self.length += 1;
            if self.length == self.rest.len() {
                self.out
                    .extend_from_slice(&characters(&self.rest, STANDARD));
                self.length = 0;
            }
            bytes_left = tail;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose;

    use super::*;

    #[test]
    fn another_implementation_agrees() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..random.usize(..20)).map(|_| random.u8(..)).collect();
            let text = url_safe(&bytes);
            assert_eq!(text, general_purpose::URL_SAFE_NO_PAD.encode(&bytes));
            assert_eq!(decode_url_safe(&text).as_deref(), Some(&*bytes));

            let mut out = Vec::new();
            let mut encoder = Encoder::new(&mut out);
            for part in bytes.chunks(random.usize(1..8)) {
                encoder.write_all(part).unwrap();
            }
            encoder.finish();
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text, general_purpose::STANDARD.encode(&bytes));
            assert_eq!(decode_lenient(&text).as_deref(), Some(&*bytes));
            let bare = text.trim_end_matches('=');
            assert_eq!(decode_lenient(bare).as_deref(), Some(&*bytes));
        }
    }

    #[test]
    fn other_texts_are_refused_as_by_another_implementation() {
        let mut random = fastrand::Rng::with_seed(2);
        let alphabet = b"AQgw/-+_=z9 \n";
        for _ in 0..20_000 {
            let length = random.usize(..9);
            let text: String = (0..length)
                .map(|_| char::from(alphabet[random.usize(..alphabet.len())]))
                .collect();
            let expected = general_purpose::URL_SAFE_NO_PAD.decode(&text).ok();
            assert_eq!(decode_url_safe(&text), expected, "{text:?}");
        }
    }
}
