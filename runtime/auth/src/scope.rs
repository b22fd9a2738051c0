//! Sets of scopes (RFC 6749, section 3.3).

use std::collections::BTreeSet;
use std::fmt;

/// Set of scopes, sorted. `Display` writes the form of the parameter `scope`.
///
/// ```
/// use treenail::auth::Scopes;
///
/// let scopes: Scopes = "files:write files:read files:read".parse()?;
/// assert_eq!(scopes.to_string(), "files:read files:write");
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(BTreeSet<Box<str>>);

impl Scopes {
    /// Maximum number of scopes in a text of a peer.
    pub(crate) const MAX: usize = 64;
    /// Maximum number of scopes in a token or in a record of the own store: all those that were ever asked for or granted.
    #[cfg(any(
        feature = "oauth",
        feature = "authorization",
        feature = "test-authorization"
    ))]
    pub(crate) const MAX_RECORDED: usize = 1024;

    /// Returns true if it contains no scope.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if it contains `scope`.
    pub fn contains(&self, scope: impl AsRef<str>) -> bool {
        self.0.contains(scope.as_ref())
    }

    /// Returns true if it contains all scopes of `other`.
    pub fn is_superset(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }

    /// Returns the scopes of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// Returns the scopes that are in both.
    #[cfg(feature = "oauth")]
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    #[cfg(feature = "oauth")]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the scopes with another one.
    #[cfg(feature = "oauth")]
    pub(crate) fn with(mut self, scope: &'static str) -> Self {
        self.0.insert(scope.into());
        self
    }

    /// Returns the scopes without one.
    #[cfg(feature = "oauth")]
    pub(crate) fn without(mut self, scope: &str) -> Self {
        self.0.remove(scope);
        self
    }

    /// Returns the scopes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|scope| &**scope)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(formatter, "{space}{scope}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Scopes {
    type Err = crate::AuthError;

    /// Reads scopes that are separated by spaces.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`](crate::AuthError::Invalid) if a character is not allowed in a scope, or if there are more than
    /// 64 scopes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, Self::MAX)
    }
}

impl Scopes {
    /// Reads the scopes of a token, of a record that this program has written, or of a request or response with those that a client
    /// has asked for in total.
    #[cfg(any(
        feature = "oauth",
        feature = "authorization",
        feature = "test-authorization"
    ))]
    pub(crate) fn from_record(text: &str) -> Option<Self> {
        Self::parse(text, Self::MAX_RECORDED).ok()
    }

    fn parse(text: &str, max: usize) -> Result<Self, crate::AuthError> {
        let mut scopes = BTreeSet::new();
        for scope in text.split(' ').filter(|scope| !scope.is_empty()) {
            let is_allowed = |byte| matches!(byte, b'\x21' | b'\x23'..=b'\x5b' | b'\x5d'..=b'\x7e');
            if !scope.bytes().all(is_allowed) {
                let reason =
                    "a scope contains a character that is not allowed (RFC 6749, section 3.3)";
                return Err(crate::AuthError::invalid(reason));
            }
            scopes.insert(scope.into());
            if scopes.len() > max {
                let reason = format!("there are more than {max} scopes");
                return Err(crate::AuthError::invalid(reason));
            }
        }
        Ok(Self(scopes))
    }
}
