//! URI templates that are parsed at run time, by the rules of `#[resource("…")]`.

use crate::resource::pattern::Part;

/// Parses a URI or a template. Rejects templates that one pass cannot match. The error completes the sentence "its URI …".
pub(super) fn parse(uri: &str) -> Result<Vec<Part<String>>, String> {
    if !has_scheme(uri) {
        return Err("does not start with a scheme, as in `app://…`".to_owned());
    }
    let mut template = Template::default();
    let mut rest = uri;
    while let Some((text, after)) = rest.split_once('{') {
        template.push_text(text)?;
        let Some((expression, after)) = after.split_once('}') else {
            return Err("has a `{` that is not closed; write `%7B` for the character".to_owned());
        };
        template.push_expression(expression)?;
        rest = after;
    }
    template.push_text(rest)?;
    Ok(template.parts)
}

fn has_scheme(uri: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.chars().all(legal)
    })
}

/// Returns whether a `%` is no start of a percent-encoded byte.
fn has_stray_percent(text: &str) -> bool {
    let encodes = |after: &str| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    !text.split('%').skip(1).all(encodes)
}

#[derive(Default)]
struct Template {
    parts: Vec<Part<String>>,
}

impl Template {
    fn push_text(&mut self, text: &str) -> Result<(), String> {
        let is_legal = |letter: char| letter.is_ascii_graphic() && !"\"<>\\^`|}".contains(letter);
        if let Some(illegal) = text.chars().find(|letter| !is_legal(*letter)) {
            return Err(format!(
                "contains {illegal:?}, which a URI must percent-encode"
            ));
        }
        if has_stray_percent(text) {
            return Err(
                "has a `%` that two hexadecimal digits do not follow; write `%25` for the character"
                    .to_owned(),
            );
        }
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
        Ok(())
    }

    /// Adds the variable in braces, with the text that its operator expands to.
    fn push_expression(&mut self, expression: &str) -> Result<(), String> {
        let operator = expression.chars().next();
        let operator = operator.filter(|operator| "+#/.".contains(*operator));
        let name = &expression[operator.map_or(0, char::len_utf8)..];
        let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || !name.chars().all(legal) {
            return Err(format!(
                "contains `{{{expression}}}`; only `{{name}}`, and `{{+name}}` for a value with slashes, can be matched"
            ));
        }
        if let Some(written @ ('#' | '/' | '.')) = operator {
            self.push_text(written.encode_utf8(&mut [0; 4]))?;
        }
        self.check_variable(name)?;
        self.parts.push(match operator {
            Some('+' | '#') => Part::Rest(name.to_owned()),
            _ => Part::Segment(name.to_owned()),
        });
        Ok(())
    }

    /// Rejects a variable that makes the values ambiguous.
    fn check_variable(&self, name: &str) -> Result<(), String> {
        for part in &self.parts {
            match part {
                Part::Segment(other) | Part::Rest(other) if other == name => {
                    return Err(format!("has two variables called `{name}`"));
                }
                Part::Rest(other) => {
                    return Err(format!(
                        "has the variable `{name}` after `{other}`, whose value can contain slashes and must be the last one"
                    ));
                }
                Part::Text(_) | Part::Segment(_) => {}
            }
        }
        match self.parts.last() {
            Some(Part::Segment(other)) => Err(format!(
                "has no text between the variables `{other}` and `{name}`"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_parsed() {
        let text = |text: &str| Part::Text(text.to_owned());
        let segment = |name: &str| Part::Segment(name.to_owned());
        let rest = |name: &str| Part::Rest(name.to_owned());
        let cases = [
            ("app://a", vec![text("app://a")]),
            ("app://a/{b}", vec![text("app://a/"), segment("b")]),
            ("a:%2F%c3{b}", vec![text("a:%2F%c3"), segment("b")]),
            (
                "a:{b}/c{/d}.md",
                vec![
                    text("a:"),
                    segment("b"),
                    text("/c/"),
                    segment("d"),
                    text(".md"),
                ],
            ),
            (
                "a:{b}{.c}{#d}",
                vec![
                    text("a:"),
                    segment("b"),
                    text("."),
                    segment("c"),
                    text("#"),
                    rest("d"),
                ],
            ),
            ("file:///{+path}", vec![text("file:///"), rest("path")]),
        ];
        for (uri, expected) in cases {
            assert_eq!(parse(uri), Ok(expected), "{uri}");
        }
    }

    #[test]
    fn templates_without_a_unique_match_are_rejected() {
        for (uri, part) in [
            ("a/b", "scheme"),
            ("1a:b", "scheme"),
            ("{a}:b", "scheme"),
            ("a:{b", "not closed"),
            ("a:b}", "contains '}'"),
            ("a:{}", "contains `{}`"),
            ("a:{?b}", "contains `{?b}`"),
            ("a:{b,c}", "can be matched"),
            ("a:{b*}", "can be matched"),
            ("a:{b}{c}", "no text between the variables `b` and `c`"),
            ("a:{+b}/{c}", "must be the last one"),
            ("a:{b}/{b}", "two variables called `b`"),
            ("a:b c", "contains ' '"),
            ("a:\u{e9}/{b}", "percent-encode"),
            ("a:%{b}", "two hexadecimal digits"),
            ("a:%2{b}", "two hexadecimal digits"),
            ("a:%2g/{b}", "two hexadecimal digits"),
            ("a:{b}%", "two hexadecimal digits"),
        ] {
            let error = parse(uri).unwrap_err();
            assert!(error.contains(part), "{uri}: {error}");
        }
    }
}
