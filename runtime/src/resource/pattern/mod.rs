//! Matching of URIs against a template, and extraction of its variables.
//!
//! `iri-string` validates and expands templates of RFC 6570, but does not match them. The macro ensures that one pass
//! is enough: literal text separates any two variables, and a variable that can contain slashes is the last one.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use treenail_schema::internal::percent_decode;

#[cfg(feature = "resource-sources")]
use crate::panic::{catch, drop_values};

/// A part of a template. The macros write literals; templates that are made at run time own their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<S = &'static str> {
    /// Literal text.
    Text(S),
    /// A variable `{name}`: letters, digits, `-`, `.`, `_`, `~` and percent-encoded bytes.
    Segment(S),
    /// A variable `{+name}`: the characters of [`Part::Segment`], and reserved characters such as `/`.
    Rest(S),
}

impl<S> Part<S> {
    fn map<T>(self, convert: impl FnOnce(S) -> T) -> Part<T> {
        match self {
            Self::Text(text) => Part::Text(convert(text)),
            Self::Segment(name) => Part::Segment(convert(name)),
            Self::Rest(name) => Part::Rest(convert(name)),
        }
    }
}

/// A parsed template.
pub(crate) struct Pattern {
    parts: Vec<Part<Cow<'static, str>>>,
    /// Decides about URIs instead of the parts.
    #[cfg(feature = "resource-sources")]
    accepts: Option<Accepts>,
}

/// Function that decides whether a template matches a URI.
#[cfg(feature = "resource-sources")]
pub(crate) type Accepts = Box<dyn Fn(&str) -> bool + Send + Sync>;

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pattern")
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "resource-sources")]
impl Drop for Pattern {
    fn drop(&mut self) {
        drop_values(self.accepts.take());
    }
}

/// The variables of a template with their decoded values.
pub(crate) type Variables<'p, 'u> = Vec<(&'p str, Cow<'u, str>)>;

impl Pattern {
    pub(crate) fn new<S: Into<Cow<'static, str>>>(parts: Vec<Part<S>>) -> Self {
        let parts = parts.into_iter().map(|part| part.map(Into::into));
        Self {
            parts: parts.collect(),
            #[cfg(feature = "resource-sources")]
            accepts: None,
        }
    }

    /// Creates a pattern that matches the URIs which `accepts` accepts, and has no variables.
    #[cfg(feature = "resource-sources")]
    pub(crate) fn custom(accepts: Accepts) -> Self {
        Self {
            parts: Vec::new(),
            accepts: Some(accepts),
        }
    }

    /// Returns the names of the variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Segment(name) | Part::Rest(name) => Some(&**name),
        })
    }

    /// Returns the values of the variables in `uri`, or `None` if the template does not match.
    ///
    /// A value has at least one character, and is as short as the following text allows. No value, however it is
    /// encoded, can escape the path to which a function joins it, see [`escapes_folder`]. There is one exception: a variable
    /// `{+path}` directly after `file://` starts with one slash, because it is an absolute path.
    pub(crate) fn matches<'p, 'u>(&'p self, uri: &'u str) -> Option<Variables<'p, 'u>> {
        #[cfg(feature = "resource-sources")]
        if let Some(accepts) = &self.accepts {
            // Routing is outside of the guard around functions.
            let accepted = catch(|| accepts(uri)).unwrap_or_else(|message| {
                tracing::error!(uri, message, "the function of a resource template panicked");
                false
            });
            return accepted.then(Vec::new);
        }
        if let Some(Part::Text(end)) = self.parts.last() {
            // Most templates that do not match are found here, before their values are read.
            uri.strip_suffix(&**end)?;
        }
        let mut variables = Vec::new();
        let mut rest = uri;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            let (name, reserved) = match part {
                Part::Text(text) => {
                    rest = rest.strip_prefix(&**text)?;
                    continue;
                }
                Part::Segment(name) => (name, false),
                Part::Rest(name) => (name, true),
            };
            let next = match parts.peek() {
                Some(Part::Text(text)) => &**text,
                _ => "",
            };
            let is_last = parts.len() <= 1;
            let length = if is_last {
                rest.len().checked_sub(next.len())?
            } else {
                shortest_value(rest, next)?
            };
            let value = rest.get(..length)?;
            let value = decode(value, reserved)?;
            let may_start_with_slash = reserved && &uri[..uri.len() - rest.len()] == "file://";
            if escapes_folder(&value, may_start_with_slash) {
                return None;
            }
            variables.push((&**name, value));
            rest = &rest[length..];
        }
        rest.is_empty().then_some(variables)
    }
}

/// Returns the length of the shortest value that is followed by `next`.
fn shortest_value(rest: &str, next: &str) -> Option<usize> {
    let mut length = 0;
    loop {
        length += char_len(&rest.as_bytes()[length..], false)?;
        if rest[length..].starts_with(next) {
            return Some(length);
        }
    }
}

/// Returns the length of the first character, or percent-encoded byte, if a value can contain it.
fn char_len(bytes: &[u8], reserved: bool) -> Option<usize> {
    match bytes {
        [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => Some(3),
        [byte, ..] if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => Some(1),
        [byte, ..] if reserved && b":/?#[]@!$&'()*+,;=".contains(byte) => Some(1),
        _ => None,
    }
}

/// Validates and decodes a value.
fn decode(value: &str, reserved: bool) -> Option<Cow<'_, str>> {
    let mut checked = 0;
    while checked < value.len() {
        checked += char_len(&value.as_bytes()[checked..], reserved)?;
    }
    let decoded = percent_decode(value)?;
    (!decoded.is_empty()).then_some(decoded)
}

/// Returns whether a value could escape the folder to which a function joins it.
///
/// It could if it has a `..` segment or is absolute: it starts with a slash, a backslash or a drive letter. Control
/// characters are rejected too, because some system functions end a path at them.
fn escapes_folder(value: &str, may_start_with_slash: bool) -> bool {
    let is_absolute = match value.strip_prefix('/') {
        Some(rest) if may_start_with_slash => rest.starts_with(['/', '\\']),
        _ => {
            let drive =
                matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
            drive || value.starts_with(['/', '\\'])
        }
    };
    is_absolute
        || value.contains(char::is_control)
        || value.split(['/', '\\']).any(|segment| segment == "..")
}
