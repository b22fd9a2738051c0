//! Matching of URIs against the templates of other servers.

/// Template of RFC 6570 with any expressions, each of which matches any text.
///
/// A URI that matches is passed on to the server of the template, which judges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matcher {
    /// Texts between the expressions, one more than there are expressions.
    texts: Vec<Box<str>>,
}

impl Matcher {
    /// Reads a template. Braces without a counterpart are text.
    pub(crate) fn new(template: &str) -> Self {
        let mut texts = Vec::new();
        let (mut rest, mut text) = (template, String::new());
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((_, after)) = after.split_once('}') else {
                text.push('{');
                rest = after;
                continue;
            };
            texts.push(std::mem::take(&mut text).into());
            rest = after;
        }
        text.push_str(rest);
        texts.push(text.into());
        Self { texts }
    }

    /// Returns true if the URI may belong to the template.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        let [first, middle @ .., last] = &self.texts[..] else {
            // Without expressions.
            return self.texts.iter().any(|text| **text == *uri);
        };
        let Some(mut rest) = uri.strip_prefix(&**first) else {
            return false;
        };
        for text in middle {
            match rest.find(&**text) {
                Some(at) => rest = &rest[at + text.len()..],
                None => return false,
            }
        }
        rest.ends_with(&**last)
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
        ];
        for (template, uri, expected) in table {
            assert_eq!(
                Matcher::new(template).matches(uri),
                expected,
                "{template} {uri}"
            );
        }
    }
}
