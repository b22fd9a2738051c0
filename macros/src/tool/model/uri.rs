//! Model of the URI of a resource, or of a URI template.

use syn::LitStr;

use crate::diag::Sink;

/// A URI, split at its variables.
pub(crate) struct Uri {
    pub(crate) literal: LitStr,
    /// Text and variables, in order.
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    /// `{name}`, within one segment.
    Segment(String),
    /// `{+name}`, which also matches slashes.
    Rest(String),
}

impl Uri {
    pub(crate) fn read(literal: LitStr, sink: &mut Sink) -> Option<Self> {
        match parts(&literal.value()) {
            Ok(parts) => Some(Self { literal, parts }),
            Err(message) => {
                sink.error(literal, message);
                None
            }
        }
    }

    /// The names of the variables, in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(Part::variable)
    }
}

impl Part {
    fn variable(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Segment(name) | Self::Rest(name) => Some(name),
        }
    }
}

/// Parses a template. Rejects those that cannot be matched against a URI in one pass.
fn parts(uri: &str) -> Result<Vec<Part>, String> {
    if !has_scheme(uri) {
        return Err("a URI starts with its scheme; write one, as in `app://…`".to_owned());
    }
    let mut parts = Vec::new();
    let mut rest = uri;
    while let Some(open) = rest.find('{') {
        push_text(&mut parts, &rest[..open])?;
        let (expression, after) = rest[open + 1..]
            .split_once('}')
            .ok_or("a `{` is never closed; write `{name}`, or `%7B` for the character itself")?;
        push_variable(&mut parts, expression)?;
        rest = after;
    }
    push_text(&mut parts, rest)?;
    Ok(parts)
}

fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else {
        return false;
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(legal)
}

/// Returns whether a `%` is no start of a percent-encoded byte.
fn has_stray_percent(text: &str) -> bool {
    let encodes = |after: &str| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    !text.split('%').skip(1).all(encodes)
}

fn push_text(parts: &mut Vec<Part>, text: &str) -> Result<(), String> {
    if text.contains('}') {
        return Err(
            "a `}` was never opened; write `{name}`, or `%7D` for the character itself".to_owned(),
        );
    }
    if let Some(c) = text
        .chars()
        .find(|c| !c.is_ascii_graphic() || "\"<>\\^`|".contains(*c))
    {
        return Err(format!(
            "{c:?} is not allowed in a URI; write it percent-encoded, like `%20` for a space"
        ));
    }
    if has_stray_percent(text) {
        return Err(
            "a `%` is not followed by two hexadecimal digits; write `%25` for the character itself"
                .to_owned(),
        );
    }
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
    Ok(())
}

fn push_variable(parts: &mut Vec<Part>, expression: &str) -> Result<(), String> {
    let operator = expression.chars().next().filter(|c| "+#/.".contains(*c));
    let name = &expression[operator.map_or(0, char::len_utf8)..];
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(legal) {
        return Err(format!(
            "`{{{expression}}}` is not supported; write `{{name}}`, or `{{+name}}` to match slashes too"
        ));
    }
    // The operators `#`, `/` and `.` also expand to themselves before the value.
    let written = operator.filter(|operator| *operator != '+');
    push_text(parts, &written.map(String::from).unwrap_or_default())?;
    let mut before = parts
        .iter()
        .filter_map(|part| Some((part, part.variable()?)));
    if before.clone().any(|(_, other)| other == name) {
        return Err(format!("duplicate variable `{name}`; rename one"));
    }
    if let Some((_, other)) = before.find(|(part, _)| matches!(part, Part::Rest(_))) {
        return Err(format!(
            "`{other}` matches slashes too, and so the rest of the URI; make it the last variable"
        ));
    }
    if let Some(other) = parts.last().and_then(Part::variable) {
        return Err(format!(
            "no text separates `{other}` from `{name}`; write some between them"
        ));
    }
    parts.push(match operator {
        Some('+' | '#') => Part::Rest(name.to_owned()),
        _ => Part::Segment(name.to_owned()),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: &[Part]) {
        assert_eq!(parts(uri).as_deref(), Ok(expected), "{uri}");
    }

    #[test]
    fn templates_are_parsed() {
        let text = |text: &str| Part::Text(text.to_owned());
        let segment = |name: &str| Part::Segment(name.to_owned());
        let rest = |name: &str| Part::Rest(name.to_owned());
        check("app://a", &[text("app://a")]);
        check("app://a/{b}", &[text("app://a/"), segment("b")]);
        check("a:%2F%c3{b}", &[text("a:%2F%c3"), segment("b")]);
        check(
            "a:{b}/c{/d}.md",
            &[
                text("a:"),
                segment("b"),
                text("/c/"),
                segment("d"),
                text(".md"),
            ],
        );
        check(
            "a:{b}{.c}{#d}",
            &[
                text("a:"),
                segment("b"),
                text("."),
                segment("c"),
                text("#"),
                rest("d"),
            ],
        );
        check("file:///{+path}", &[text("file:///"), rest("path")]);
    }

    #[test]
    fn unmatchable_templates_are_rejected() {
        for (uri, part) in [
            ("a/b", "scheme"),
            ("1a:b", "scheme"),
            ("{a}:b", "scheme"),
            ("a:{b", "never closed"),
            ("a:b}", "never opened"),
            ("a:{}", "`{}` is not supported"),
            ("a:{?b}", "`{?b}` is not supported"),
            ("a:{b,c}", "not supported"),
            ("a:{b*}", "not supported"),
            ("a:{b:3}", "not supported"),
            ("a:{b}{c}", "no text separates `b` from `c`"),
            ("a:{+b}/{c}", "make it the last variable"),
            ("a:{b}/{b}", "duplicate variable"),
            ("a:b c", "' ' is not allowed"),
            ("a:\u{e9}/{b}", "is not allowed"),
            ("a:%{b}", "two hexadecimal digits"),
            ("a:%2{b}", "two hexadecimal digits"),
            ("a:%2g/{b}", "two hexadecimal digits"),
            ("a:{b}%", "two hexadecimal digits"),
        ] {
            let error = parts(uri).unwrap_err();
            assert!(error.contains(part), "{uri}: {error}");
        }
    }
}
