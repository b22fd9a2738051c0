//! JSON text without its escapes, and the places of its characters in the original.

use std::borrow::Cow;
use std::ops::Range;

/// Number of times that a text is unescaped: strings, and strings in JSON that is a string itself.
const LEVELS: usize = 2;

/// Text whose escapes have been replaced by their characters.
#[derive(Debug)]
pub(super) struct Unescaped<'a> {
    text: Cow<'a, str>,
    /// Ends of the escapes at each level: in the text, and in the one that it was made of. Outermost level last.
    ends: Vec<Vec<(usize, usize)>>,
}

impl<'a> Unescaped<'a> {
    /// Returns the text itself, and what it is after one and after several steps, as far as there are escapes.
    pub(super) fn levels(text: &'a str) -> impl Iterator<Item = Self> {
        let first = Self {
            text: Cow::Borrowed(text),
            ends: Vec::new(),
        };
        std::iter::successors(Some(first), Self::next_level).take(1 + LEVELS)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the place of a part of this text in the original.
    pub(super) fn source(&self, place: Range<usize>) -> Range<usize> {
        let source = |offset| {
            let levels = self.ends.iter();
            levels.fold(offset, |offset, ends| source_offset(offset, ends))
        };
        source(place.start)..source(place.end)
    }

    /// Returns the text after another step, or `None` without an escape.
    fn next_level(&self) -> Option<Self> {
        let (text, ends) = unescape(&self.text)?;
        let mut all = vec![ends];
        all.extend(self.ends.iter().cloned());
        let text = Cow::Owned(text);
        Some(Self { text, ends: all })
    }
}

/// Returns the offset before a step for one after it. Between two escapes, the texts are equal.
fn source_offset(offset: usize, ends: &[(usize, usize)]) -> usize {
    let count = ends.partition_point(|(end, _)| *end <= offset);
    let last = ends[..count].last();
    last.map_or(offset, |(end, source)| source + (offset - end))
}

/// Replaces escapes, and returns the ends of each in the new text and in the old one. `None` without an escape.
fn unescape(source: &str) -> Option<(String, Vec<(usize, usize)>)> {
    let (mut text, mut ends) = (String::new(), Vec::new());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = source[at..].find('\\') {
        let start = at + found;
        let Some((character, length)) = parse_escape(&source[start..]) else {
            at = start + 1;
            continue;
        };
        at = start + length;
        text.push_str(&source[copied..start]);
        text.push(character);
        copied = at;
        ends.push((text.len(), at));
    }
    text.push_str(&source[copied..]);
    (!ends.is_empty()).then_some((text, ends))
}

/// Parses the escape at the start of a text. Returns its character and its length.
fn parse_escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return parse_unicode(text),
        _ => return None,
    };
    Some((character, 2))
}

fn parse_unicode(text: &str) -> Option<(char, usize)> {
    let first = parse_unit(text)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let second = parse_unit(text.get(6..)?)?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 12))
}

/// Parses `\u` and four hexadecimal digits.
fn parse_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_original() {
        let text = r#"x\u00e9\"y\\n\q\ud800z"#;
        let levels: Vec<_> = Unescaped::levels(text).collect();
        let texts: Vec<_> = levels.iter().map(Unescaped::text).collect();
        let expected = [text, r#"xé"y\n\q\ud800z"#, "xé\"y\n\\q\\ud800z"];
        assert_eq!(texts, expected);
        for (level, part, source) in [
            (1, "é", r"\u00e9"),
            (1, "\"y\\", r#"\"y\\"#),
            (2, "y\n", r"y\\n"),
            (2, "\n\\q", r"\\n\q"),
            (2, "z", "z"),
        ] {
            let start = levels[level].text().find(part).unwrap();
            let place = levels[level].source(start..start + part.len());
            assert_eq!(&text[place], source, "level {level}");
        }
    }

    #[test]
    fn broken_escapes_are_text() {
        for text in [r"\", r"\x", r"\u12", r"\u+123", r"\u00é", r"\uD83E\n"] {
            let rest = unescape(&format!("{text} \\n")).unwrap().0;
            assert_eq!(rest, format!("{} \n", text.replace(r"\n", "\n")), "{text}");
        }
    }
}
