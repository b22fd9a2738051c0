//! Markdown that renders one line of a server's text as written.

/// Maximum number of characters of a line.
pub(super) const MAX_LINE_LENGTH: usize = 1_000;

/// Escapes a text of one line for Markdown.
pub(in crate::client) fn inline(text: &str) -> String {
    escape(&clean(text))
}

/// A value as code, or as text if it contains backticks.
pub(in crate::client) fn code(value: &str) -> String {
    let value = clean(value);
    let value: String = value.chars().take(200).collect();
    if value.is_empty() || value.contains('`') {
        format!("\"{}\"", escape_text(&value))
    } else {
        format!("`{value}`")
    }
}

/// Replaces invisible characters in a line by spaces.
pub(super) fn clean(line: &str) -> String {
    let line: String = line
        .chars()
        .map(|c| if is_invisible(c) { ' ' } else { c })
        .take(MAX_LINE_LENGTH)
        .collect();
    line.trim().to_owned()
}

/// Returns `true` for characters that must not appear in a comment: control characters, bidirectional controls, characters
/// that Unicode defines as ignorable, and line separators. Joiners and the variation selectors of the first plane are
/// allowed, because scripts and emoji need them.
pub(super) fn is_invisible(c: char) -> bool {
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

/// Escapes a clean line for Markdown. Code between single backticks remains code.
pub(super) fn escape(line: &str) -> String {
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
