//! Matching of URIs against the templates of other servers.

use crate::limits::MAX_COMPARED_BYTES;

/// Template of RFC 6570 with any expressions, each of which matches any text.
///
/// A URI that matches is passed on to the server of the template, which judges it. The size is about that of the template, and the
/// time of a comparison is linear in the length of the URI: both texts are chosen by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matcher {
    /// The template with [`ANY`] in place of each expression, and of several ones without text between them.
    pattern: Box<str>,
    /// Length of the shortest URI that matches, which is that of all texts.
    least: usize,
}

/// Placeholder of expressions. No text of a template contains it, since it is an expression itself.
const ANY: &str = "{}";

impl Matcher {
    /// Reads a template. Braces without a counterpart are text.
    pub(crate) fn new(template: &str) -> Self {
        let mut pattern = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((_, after)) = after.split_once('}') else {
                break;
            };
            pattern.push_str(before);
            if !before.is_empty() || !pattern.ends_with(ANY) {
                pattern.push_str(ANY);
            }
            rest = after;
        }
        pattern.push_str(rest);
        Self {
            least: pattern.len() - pattern.matches(ANY).count() * ANY.len(),
            pattern: pattern.into(),
        }
    }

    /// Returns true if the URI may belong to the template.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        if uri.len() < self.least {
            return false;
        }
        let Some((first, others)) = self.pattern.split_once(ANY) else {
            return *self.pattern == *uri;
        };
        let Some(mut rest) = uri.strip_prefix(first) else {
            return false;
        };
        let (middle, last) = others.rsplit_once(ANY).unwrap_or(("", others));
        // Each text has at least one character, except for the one of an empty `middle`.
        for text in middle.split(ANY) {
            match rest.find(text) {
                Some(at) => rest = &rest[at + text.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// Bound of several comparisons of URIs with templates, see [`MAX_COMPARED_BYTES`].
#[derive(Debug)]
pub(crate) struct Comparisons {
    left: usize,
}

impl Default for Comparisons {
    fn default() -> Self {
        Self {
            left: MAX_COMPARED_BYTES,
        }
    }
}

impl Comparisons {
    /// Returns true if a template matches the URI; `None` if this cannot be compared within the bound.
    pub(crate) fn any_matches(&mut self, templates: &[Matcher], uri: &str) -> Option<bool> {
        let cost = uri.len().saturating_mul(templates.len());
        self.left = self.left.checked_sub(cost)?;
        Some(templates.iter().any(|template| template.matches(uri)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_any_text() {
        let table = [
            ("data://{id}", "data://7", true),
            ("data://{id}", "other://7", false),
            ("data://{id}/x", "data://7/x", true),
            ("data://{id}/x", "data://7/y", false),
            ("data://{a}/b/{c}{?d,e}", "data://1/b/2?d=3", true),
            ("data://{a}/b/{c}", "data://1/2", false),
            ("data://fixed", "data://fixed", true),
            ("data://fixed", "data://fixed/more", false),
            ("data://{open", "data://{open", true),
            ("{+all}", "anything", true),
            ("{a}{b}{c}/{d}{e}", "1/2", true),
            ("{a}{b}{c}/{d}{e}", "12", false),
            ("a}{b}}c", "a}1}c", true),
            ("a}{b}}c", "a}1c", false),
            ("{a}{", "1{", true),
            ("{a}{", "1", false),
            ("", "", true),
            ("", "a", false),
        ];
        for (template, uri, expected) in table {
            assert_eq!(
                Matcher::new(template).matches(uri),
                expected,
                "{template} {uri}"
            );
        }
    }

    #[test]
    fn a_matcher_is_not_larger_than_its_template() {
        for (expression, expected) in [("{a}", 2), ("{}x", 3_000)] {
            let template = expression.repeat(1_000);
            let pattern = Matcher::new(&template).pattern;
            assert_eq!(pattern.len(), expected, "{expression}");
        }
    }
}
