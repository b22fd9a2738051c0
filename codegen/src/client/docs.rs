//! Documentation from the texts of servers, which are not trusted.
//!
//! A text is escaped so that it renders as written: without headings, links, tags, or code that `cargo test` would run.

use proc_macro2::TokenStream;
use quote::quote;

/// Maximum number of characters of a text, and of each of its lines.
const MAX_LENGTH: usize = 4_000;
const MAX_LINE_LENGTH: usize = 1_000;

/// Lines of documentation, as Markdown.
#[derive(Clone, Debug, Default)]
pub(super) struct Docs {
    lines: Vec<String>,
}

impl Docs {
    /// Documentation from a text of the server.
    pub(super) fn quoted(text: &str) -> Self {
        let mut docs = Self::default();
        docs.quote(text);
        docs
    }

    /// Adds a paragraph of trusted Markdown.
    pub(super) fn add(&mut self, paragraph: &str) {
        self.begin_paragraph();
        self.lines.push(paragraph.to_owned());
    }

    /// Adds a text of the server.
    pub(super) fn quote(&mut self, text: &str) {
        let is_cut = text.chars().nth(MAX_LENGTH).is_some();
        let text: String = text.chars().take(MAX_LENGTH).collect();
        let mut in_list = false;
        let mut is_new = true;
        for line in text.lines().map(clean) {
            let item = ["- ", "* ", "• "]
                .iter()
                .find_map(|sign| line.strip_prefix(sign));
            if line.is_empty() {
                is_new = true;
                continue;
            }
            if is_new || in_list != item.is_some() || is_numbered(&line) {
                self.begin_paragraph();
            }
            (is_new, in_list) = (false, item.is_some());
            self.lines.push(match item {
                Some(item) => format!("- {}", escape(item.trim_start())),
                None => escape(&line),
            });
        }
        if is_cut {
            self.add("…");
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn begin_paragraph(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Renders the `doc` attributes, with `otherwise` if there is no text.
    pub(super) fn render(&self, otherwise: &str) -> TokenStream {
        let otherwise = [otherwise.to_owned()];
        let lines = if self.is_empty() {
            &otherwise[..]
        } else {
            &self.lines[..]
        };
        let lines = lines.iter().map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!(" {line}")
            }
        });
        quote! { #(#[doc = #lines])* }
    }
}

/// Truncates a text to the maximum length plus one character, which marks it as too long.
pub(super) fn truncate(text: &str) -> String {
    text.chars().take(MAX_LENGTH + 1).collect()
}

/// Returns `true` for characters that must not appear in a comment: control characters, bidirectional controls, characters
/// that Unicode defines as ignorable, and line separators. Joiners and the variation selectors of the first plane are
/// allowed, because scripts and emoji need them.
fn is_invisible(c: char) -> bool {
    match c {
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Replaces invisible characters in a line by spaces.
fn clean(line: &str) -> String {
    let line: String = line
        .chars()
        .map(|c| if is_invisible(c) { ' ' } else { c })
        .take(MAX_LINE_LENGTH)
        .collect();
    line.trim().to_owned()
}

/// Returns `true` for a line `1. …`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with('.') || rest.starts_with(')'))
}

/// Escapes a text of one line for Markdown.
pub(super) fn inline(text: &str) -> String {
    escape(&clean(text))
}

/// Escapes a clean line for Markdown. Code between single backticks remains code.
fn escape(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let has_code = parts.len() > 2
        && parts.len() % 2 == 1
        && parts[1..]
            .iter()
            .step_by(2)
            .all(|code| !code.trim().is_empty())
        && parts[1..parts.len() - 1]
            .iter()
            .all(|part| !part.is_empty());
    let escaped = if has_code {
        let escaped = parts
            .iter()
            .enumerate()
            .map(|(index, part)| match index % 2 {
                0 => escape_text(part),
                _ => (*part).to_owned(),
            });
        escaped.collect::<Vec<_>>().join("`")
    } else {
        escape_text(line)
    };
    escape_line_start(&escaped)
}

fn escape_text(text: &str) -> String {
    let mut escaped = String::new();
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            escaped.push(' ');
        }
        match url(word) {
            Some((before, url, behind)) => {
                escaped.push_str(&escape_word(before));
                escaped.extend(["<", url, ">"]);
                escaped.push_str(&escape_word(behind));
            }
            None => escaped.push_str(&escape_word(word)),
        }
    }
    escaped
}

/// Splits a word into the text before a URL, the URL, and the text after it.
fn url(word: &str) -> Option<(&str, &str, &str)> {
    let begin = word.find("https://").or_else(|| word.find("http://"))?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&*+,;=%'".contains(c);
    let end = word[begin..]
        .find(|c| !is_part(c))
        .map_or(word.len(), |end| begin + end);
    let url = word[begin..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
    let end = begin + url.len();
    (!url.ends_with("//")).then(|| (&word[..begin], url, &word[end..]))
}

fn escape_word(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    let is_inner = |index: usize| {
        let is_letter = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
        index > 0 && is_letter(chars.get(index - 1)) && is_letter(chars.get(index + 1))
    };
    let mut escaped = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let is_special = match c {
            '_' => !is_inner(index),
            // Two slashes turn the surrounding text into a URL.
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '~' | '|' | '$' => true,
            _ => false,
        };
        if is_special {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    // Rustdoc warns about a bare URL if a scheme remains.
    escaped.replace("://", ":\\//")
}

/// Escapes characters with a meaning at the start of a line: headings, lists, quotations and rules.
fn escape_line_start(line: &str) -> String {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    match line[digits..].chars().next() {
        Some('#' | '+' | '-' | '=' | ':') if digits == 0 => format!("\\{line}"),
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &line[..digits], &line[digits..]),
        _ => line.to_owned(),
    }
}

/// A value as code, or as text if it contains backticks.
pub(super) fn code(value: &str) -> String {
    let value = clean(value);
    let value: String = value.chars().take(200).collect();
    if value.is_empty() || value.contains('`') {
        format!("\"{}\"", escape_text(&value))
    } else {
        format!("`{value}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_render_as_they_were_written() {
        for (text, escaped) in [
            ("The path, e.g. `a/b`.", "The path, e.g. `a/b`."),
            ("an `unclosed tick", "an \\`unclosed tick"),
            ("``two``", "\\`\\`two\\`\\`"),
            ("a [link](to) <b>", "a \\[link\\](to) \\<b\\>"),
            (
                "Vec<String> & max_length _x_",
                "Vec\\<String\\> \\& max_length \\_x\\_",
            ),
            ("*/ fn main() {}", "\\*/ fn main() {}"),
            ("# Errors", "\\# Errors"),
            ("1. one", "1\\. one"),
            ("--- a", "\\--- a"),
            (
                "see https://a.b/c_d?e=f, (http://x).",
                "see <https://a.b/c_d?e=f>, (<http://x>).",
            ),
            ("http://", "http:\\//"),
            ("a\u{202e}b\rc\0d", "a b c d"),
        ] {
            assert_eq!(inline(text), escaped);
        }
    }

    /// The list is repeated here because a dependency on `treenail-contract` would be circular.
    #[test]
    fn invisible_characters_are_those_of_the_contract() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_invisible(c), treenail_contract::is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn invisible_characters_are_removed() {
        for c in [
            '\u{1b}',
            '\u{9b}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180e}',
            '\u{200b}',
            '\u{200f}',
            '\u{2028}',
            '\u{202e}',
            '\u{2060}',
            '\u{206f}',
            '\u{3164}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{1bca0}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{e0100}',
            '\u{e01ef}',
            '\u{e0fff}',
        ] {
            assert_eq!(inline(&format!("a{c}b")), "a b", "{c:?}");
            assert_eq!(code(&format!("a{c}b")), "`a b`", "{c:?}");
        }
        for text in ["👩\u{200d}🚀", "❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(inline(text), text);
        }
    }

    fn lines(text: &str) -> Vec<String> {
        Docs::quoted(text).lines
    }

    #[test]
    fn no_line_is_code() {
        assert_eq!(
            lines("a:\n\n    panic!();\n\tb"),
            ["a:", "", "panic!();", "b"]
        );
        assert_eq!(
            lines("```\npanic!()\n```"),
            ["\\`\\`\\`", "panic!()", "\\`\\`\\`"]
        );
    }

    #[test]
    fn lists_stay_lists() {
        assert_eq!(
            lines("of:\n- a\n* b\nend"),
            ["of:", "", "- a", "- b", "", "end"]
        );
        assert_eq!(lines("- # a"), ["- \\# a"]);
        assert_eq!(lines("1. a\n2. b"), ["1\\. a", "", "2\\. b"]);
    }

    #[test]
    fn long_texts_are_cut_off() {
        let text = "word ".repeat(2_000);
        let lines = lines(&text);
        assert!(
            lines
                .iter()
                .all(|line| line.chars().count() <= MAX_LINE_LENGTH)
        );
        assert_eq!(lines.last().map(String::as_str), Some("…"));
    }
}
