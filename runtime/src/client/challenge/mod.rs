//! Challenges of a server that requires authorization: the header `WWW-Authenticate`.

mod parser;
#[cfg(test)]
mod tests;

use std::fmt;

use self::parser::parse;
use crate::wire::quoted;

/// Challenges of a response with status 401 or 403, from the header `WWW-Authenticate` (RFC 9110, section 11.6.1).
///
/// They are parsed leniently: malformed parts are skipped. Their text is untrusted.
///
/// ```
/// use treenail::client::Challenges;
///
/// let challenges = Challenges::parse([r#"Basic realm="a", Bearer error="invalid_token", scope="read write""#]);
/// let bearer = challenges.with_scheme("bearer").next().expect("the second one");
/// assert_eq!(bearer.parameter("scope"), Some("read write"));
/// assert_eq!(bearer.parameter("realm"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenges(Vec<Challenge>);

impl Challenges {
    /// Parses the values of all `WWW-Authenticate` headers of a response, in their order.
    ///
    /// At most 8 KiB are read: a value that exceeds the rest of this limit is skipped.
    pub fn parse<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Self {
        Self(parse(values))
    }

    /// Returns the challenges, in the order of the response.
    pub fn iter(&self) -> impl Iterator<Item = &Challenge> {
        self.0.iter()
    }

    /// Returns the challenges with this scheme, such as `Bearer`, in any case.
    pub fn with_scheme(&self, scheme: &str) -> impl Iterator<Item = &Challenge> {
        self.iter()
            .filter(move |challenge| challenge.scheme.eq_ignore_ascii_case(scheme))
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One challenge of a server: a scheme with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    scheme: Box<str>,
    token: Option<Box<str>>,
    parameters: Vec<(Box<str>, Box<str>)>,
}

impl Challenge {
    /// Returns the scheme as written, such as `Bearer`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the token that some schemes, such as `Negotiate`, have in place of parameters.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the first parameter with this name, in any case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    /// Returns all parameters with this name. RFC 9110 allows one, but some servers send `resource_metadata` twice.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self
            .parameters
            .iter()
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        named.map(|(_, value)| &**value)
    }
}

/// Writes the schemes with their errors and scopes, for messages. Text of the server is quoted.
impl fmt::Display for Challenges {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, challenge) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}{}", quoted(&challenge.scheme))?;
            challenge.write_reason(formatter)?;
        }
        Ok(())
    }
}

impl Challenge {
    fn write_reason(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (label, name) in [
            (" with error", "error"),
            (":", "error_description"),
            ("; it needs", "scope"),
        ] {
            if let Some(value) = self.parameter(name).filter(|value| !value.is_empty()) {
                write!(formatter, "{label} {}", quoted(value))?;
            }
        }
        Ok(())
    }
}

/// Response of a server that requires authorization: status 401 without valid credentials, 403 with insufficient ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unauthorized {
    /// The status, 401 or 403.
    pub status: u16,
    /// The challenges, which describe the expected credentials. Servers may send none.
    pub challenges: Challenges,
    /// The first bytes of the body, if it is text.
    pub body: Box<str>,
}

impl Unauthorized {
    #[doc(hidden)]
    #[cfg(feature = "http-client")]
    pub fn new(status: u16, challenges: Challenges, body: &str) -> Self {
        Self {
            status,
            challenges,
            body: body.into(),
        }
    }
}

impl fmt::Display for Unauthorized {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status;
        write!(
            formatter,
            "the server requires authorization (HTTP status {status})"
        )?;
        if !self.challenges.is_empty() {
            write!(formatter, "; it accepts {}", self.challenges)?;
        }
        let is_described = |challenge: &Challenge| {
            let mut names = ["error_description", "scope"].into_iter();
            names.any(|name| challenge.parameter(name).is_some())
        };
        // The body repeats the challenge, and its first bytes may not contain the reason.
        if !self.body.is_empty() && !self.challenges.iter().any(is_described) {
            write!(formatter, ": {}", quoted(&self.body))?;
        }
        Ok(())
    }
}
