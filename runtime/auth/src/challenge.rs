//! Writer of challenges, the values of `WWW-Authenticate` (RFC 9110, section 11). The parser is a part of HTTP sessions.

use http::HeaderValue;

/// Challenge of one scheme.
#[derive(Clone, Debug)]
pub(crate) struct Challenge(String);

impl Challenge {
    /// Creates a challenge without parameters.
    pub(crate) fn new(scheme: &str) -> Self {
        Self(scheme.to_owned())
    }

    /// Adds a parameter. Characters that a quoted string cannot contain are replaced.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let is_first = !self.0.contains(' ');
        self.0.push_str(if is_first { " " } else { ", " });
        self.0.push_str(name);
        self.0.push_str("=\"");
        for c in value.chars() {
            match c {
                '"' | '\\' => self.0.extend(['\\', c]),
                ' '..='~' => self.0.push(c),
                _ => self.0.push('?'),
            }
        }
        self.0.push('"');
        self
    }

    /// Adds a parameter if it has a value.
    pub(crate) fn with_some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Returns the value of the header.
    pub(crate) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("the challenge consists of visible ASCII characters")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        let challenge = Challenge::new("Bearer")
            .with("error", "invalid_token")
            .with("error_description", "a \"b\" \\ \r\n é")
            .with_some("scope", None);
        let expected = r#"Bearer error="invalid_token", error_description="a \"b\" \\ ?? ?""#;
        assert_eq!(challenge.header(), expected, "AUTH-R-23");
    }
}
