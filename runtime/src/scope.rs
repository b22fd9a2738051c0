//! Scopes that functions require, and the access that the caller of a request has.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::wire::RpcError;

/// JSON-RPC error code of a request whose caller lacks a scope. The protocol defines none, and reserves the codes from -32768
/// to -32000, so it is the status of such a request over HTTP.
pub const INSUFFICIENT_SCOPE: i64 = 403;

/// Value of a scope: the macros accept constants, and configurations owned strings.
type Scope = Cow<'static, str>;

/// Scopes that a function requires: one of the alternatives of each group.
///
/// ```
/// use treenail::args::IntoScopes;
/// use treenail::scope::OneOf;
///
/// let scopes = "files:read files:list".into_scopes();
/// assert_eq!(scopes.names().collect::<Vec<_>>(), ["files:read", "files:list"]);
/// assert!(OneOf(["files", "files:read"]).into_scopes().are_met(|scope| scope == "files:read"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredScopes(Vec<Vec<Scope>>);

impl RequiredScopes {
    /// Requires one of the scopes, such as the alternatives in a configuration. A client without any is asked for the first.
    ///
    /// ```
    /// use treenail::scope::RequiredScopes;
    ///
    /// let names = "files:audit, files:admin".split(", ").map(str::to_owned);
    /// let scopes = RequiredScopes::one_of(names);
    /// assert!(scopes.are_met(|scope| scope == "files:admin"));
    /// ```
    pub fn one_of(scopes: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> Self {
        Self(vec![scopes.into_iter().map(Into::into).collect()])
    }

    /// Returns true if no scope is required.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if `has_scope` returns true for an alternative of each group.
    pub fn are_met(&self, has_scope: impl Fn(&str) -> bool) -> bool {
        let mut groups = self.0.iter();
        groups.all(|group| group.iter().any(|scope| has_scope(scope)))
    }

    /// Returns the scopes that a client is asked for: the first alternative of each group.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter_map(|group| group.first())
            .map(|scope| &**scope)
    }

    /// Returns all scopes with their alternatives.
    pub fn alternatives(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().map(|scope| &**scope)
    }

    /// Rejects characters that no scope can have (RFC 6749, section 3.3).
    pub(crate) fn check(self) -> Result<Self, String> {
        let empty = self.0.iter().any(Vec::is_empty);
        let wrong = self.alternatives().find(|scope| !is_scope(scope));
        match wrong {
            Some(wrong) => Err(format!(
                "`{}` is not a scope: scopes are visible ASCII characters without `\"` and `\\`",
                wrong.escape_debug()
            )),
            None if empty => Err("a group of alternative scopes is empty".to_owned()),
            None => Ok(self),
        }
    }
}

impl<S: Into<Cow<'static, str>>> FromIterator<S> for RequiredScopes {
    /// Requires all of the scopes.
    fn from_iter<I: IntoIterator<Item = S>>(scopes: I) -> Self {
        Self(scopes.into_iter().map(|scope| vec![scope.into()]).collect())
    }
}

/// Returns true if `scope` consists of the characters that RFC 6749 allows, at least one.
fn is_scope(scope: &str) -> bool {
    let is_allowed = |byte| matches!(byte, b'\x21' | b'\x23'..=b'\x5b' | b'\x5d'..=b'\x7e');
    !scope.is_empty() && scope.bytes().all(is_allowed)
}

/// A value for `scope = …`: a scope or several separated by spaces, an array of them, or [`OneOf`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of `scope`",
    label = "expected a scope",
    note = "write `scope = \"files:read\"`, `scope = [READ, WRITE]` for several, or `scope = OneOf([READ, ADMIN])`"
)]
pub trait IntoScopes {
    /// Converts the value.
    fn into_scopes(self) -> RequiredScopes;
}

#[diagnostic::do_not_recommend]
impl IntoScopes for &'static str {
    #[inline]
    fn into_scopes(self) -> RequiredScopes {
        self.split(' ').filter(|scope| !scope.is_empty()).collect()
    }
}

#[diagnostic::do_not_recommend]
impl IntoScopes for String {
    #[inline]
    fn into_scopes(self) -> RequiredScopes {
        let scopes = self.split(' ').filter(|scope| !scope.is_empty());
        scopes.map(str::to_owned).collect()
    }
}

#[diagnostic::do_not_recommend]
impl IntoScopes for RequiredScopes {
    fn into_scopes(self) -> RequiredScopes {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> IntoScopes for [&'static str; N] {
    fn into_scopes(self) -> RequiredScopes {
        self.into_iter().collect()
    }
}

/// Alternatives, for `scope = OneOf([…])`: one of the scopes is enough. A client without any is asked for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneOf<const N: usize>(pub [&'static str; N]);

#[diagnostic::do_not_recommend]
impl<const N: usize> IntoScopes for OneOf<N> {
    fn into_scopes(self) -> RequiredScopes {
        RequiredScopes::one_of(self.0)
    }
}

/// Authority of an authenticated caller: the scopes that its token grants.
pub trait Authority: fmt::Debug + Send + Sync + 'static {
    /// Returns true if `scope` is granted, by itself or implied by another scope.
    fn has_scope(&self, scope: &str) -> bool;

    /// Returns the scopes that every HTTP request needs, in addition to those of its function.
    fn base(&self) -> &RequiredScopes;

    /// Returns the `data` of the error for a request that needs `scopes`, separated by spaces.
    fn refusal(&self, scopes: &str) -> Value;

    /// Returns the granted scopes and all that they imply, as far as they can be listed. A task that another process continues
    /// has these scopes, and those of the server's features that are granted. Default: none.
    fn granted(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Access of the caller of one request: an [extension](crate::Extensions) that enforces scopes.
///
/// Scopes are enforced only for calls that have this extension. `HttpService::authorize`
/// adds it; a transport of your own can do so too, once per request.
#[derive(Clone, Debug)]
pub struct Access {
    authority: Arc<dyn Authority>,
    /// Scopes of the operation, all of which a refusal names, in order.
    operation: Arc<Vec<Scope>>,
    /// Scopes that were missing, separated by spaces.
    refused: Arc<Mutex<Option<Box<str>>>>,
}

impl Access {
    /// Creates the access for one request.
    pub fn new(authority: impl Authority) -> Self {
        Self {
            authority: Arc::new(authority),
            operation: Arc::default(),
            refused: Arc::default(),
        }
    }

    /// Returns true if `scope` is granted.
    pub(crate) fn has_scope(&self, scope: &str) -> bool {
        self.authority.has_scope(scope)
    }

    /// Returns the granted scopes: those that can be listed, and those of `known` that are granted.
    pub(crate) fn granted<'a>(&self, known: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let known = known.filter(|scope| self.has_scope(scope));
        let listed = self.authority.granted().into_iter();
        listed.chain(known.map(str::to_owned)).collect()
    }

    /// Checks the scopes of an operation, and returns the access for its function.
    pub(crate) fn check(&self, required: &[&RequiredScopes]) -> Result<Self, RpcError> {
        let required = || required.iter().copied();
        let mut operation = Vec::new();
        for scope in required().flat_map(RequiredScopes::names) {
            insert(&mut operation, scope);
        }
        if !required().all(|one| one.are_met(|scope| self.authority.has_scope(scope))) {
            return Err(self.refuse(&operation));
        }
        Ok(Self {
            operation: Arc::new(operation),
            ..self.clone()
        })
    }

    /// Checks the scopes that every request of the caller needs, together with those of its functions.
    #[cfg(feature = "http-server")]
    pub(crate) fn check_request(&self, functions: Vec<&RequiredScopes>) -> Result<Self, RpcError> {
        let mut required = functions;
        required.push(self.authority.base());
        self.check(&required)
    }

    /// Checks a scope that a function requires while it runs.
    #[inline]
    pub(crate) fn require(&self, scope: &str) -> Result<(), RpcError> {
        if !is_scope(scope) {
            return Err(RpcError::internal("a function requires a malformed scope"));
        }
        if self.authority.has_scope(scope) {
            return Ok(());
        }
        let mut operation = Vec::clone(&self.operation);
        insert(&mut operation, scope);
        Err(self.refuse(&operation))
    }

    fn refuse(&self, operation: &[Scope]) -> RpcError {
        let scopes = operation.join(" ");
        let message = format!("insufficient scope: the request needs `{scopes}`");
        let error = RpcError::new(INSUFFICIENT_SCOPE, message);
        let error = error.with_data(self.authority.refusal(&scopes));
        *self.refused() = Some(scopes.into());
        error
    }

    /// Returns the scopes of the last refusal, separated by spaces.
    #[cfg(feature = "http-server")]
    #[doc(hidden)]
    pub fn refused_scopes(&self) -> Option<Box<str>> {
        self.refused().clone()
    }

    fn refused(&self) -> MutexGuard<'_, Option<Box<str>>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Inserts a scope in order, unless it is there.
fn insert(scopes: &mut Vec<Scope>, scope: &str) {
    if let Err(index) = scopes.binary_search_by(|one| (**one).cmp(scope)) {
        scopes.insert(index, Cow::Owned(scope.to_owned()));
    }
}

/// Error of [`Context::require_scope`](crate::Context::require_scope): the caller lacks a scope.
///
/// If the function fails after it, the client receives a request for the scope, and not the error of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingScope(pub(crate) Box<str>);

impl MissingScope {
    /// Returns the scope.
    pub fn scope(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MissingScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the scope `{}` is required",
            self.0.escape_debug()
        )
    }
}

impl std::error::Error for MissingScope {}

/// The error that the client receives in its place, with the same code.
impl From<MissingScope> for RpcError {
    fn from(missing: MissingScope) -> Self {
        Self::new(INSUFFICIENT_SCOPE, missing.to_string())
    }
}
