//! Grant of the caller of a function: the contents of its token, without the token.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use treenail_runtime::{Authority, Context, Principal, RequiredScopes};

use super::VerifiedToken;
use super::exchange::CallerToken;
use super::hierarchy::Hierarchy;
use crate::Scopes;

/// Rights that the token of a request grants, for functions. It does not contain the token.
///
/// [`ContextExt::grant`] returns it. Clones share the contents.
///
/// ```
/// use treenail::prelude::*;
///
/// async fn greet(cx: &Context) -> String {
///     match cx.grant() {
///         Some(grant) => format!("Hello {}", grant.subject()),
///         None => "Hello".to_owned(),
///     }
/// }
/// ```
#[cfg(feature = "authorization")]
#[derive(Clone)]
pub struct Grant {
    token: Arc<VerifiedToken>,
    hierarchy: Arc<Hierarchy>,
}

impl Grant {
    pub(super) fn new(token: VerifiedToken, hierarchy: &Arc<Hierarchy>) -> Self {
        Self {
            token: Arc::new(token),
            hierarchy: Arc::clone(hierarchy),
        }
    }

    /// Returns the issuer of the token.
    pub fn issuer(&self) -> &str {
        &self.token.issuer
    }

    /// Returns the subject: the user, or the client itself if no user is involved. It is unique for its issuer only.
    pub fn subject(&self) -> &str {
        &self.token.subject
    }

    /// Returns the client that the token was issued to.
    pub fn client_id(&self) -> Option<&str> {
        self.token.client_id.as_deref()
    }

    /// Returns the resources that the token was issued for.
    pub fn audience(&self) -> &[String] {
        &self.token.audience
    }

    /// Returns the granted scopes, without those that they imply.
    pub fn scopes(&self) -> &Scopes {
        &self.token.scopes
    }

    /// Returns true if `scope` is granted, by itself or implied by another scope.
    pub fn has_scope(&self, scope: impl AsRef<str>) -> bool {
        self.hierarchy.includes(&self.token.scopes, scope.as_ref())
    }

    /// Returns the time at which the token expires.
    pub fn expires_at(&self) -> SystemTime {
        self.token.expires_at
    }

    /// Returns the other claims, as the authorization server wrote them. They may be personal data.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.token.claims
    }

    /// Returns the principal: the issuer and the subject. An issuer contains no space, so no two callers have the same one.
    pub(super) fn principal(&self) -> Principal {
        Principal::new(format!("{} {}", self.issuer(), self.subject()))
    }

    /// Returns true if the token is bound to a key.
    pub(super) fn is_bound(&self) -> bool {
        self.token.key_thumbprint.is_some()
    }
}

/// Omits the claims, because they may be personal data.
impl fmt::Debug for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Grant")
            .field("issuer", &self.issuer())
            .field("subject", &self.subject())
            .field("client_id", &self.client_id())
            .field("scopes", &self.scopes().to_string())
            .field("expires_at", &self.expires_at())
            .finish_non_exhaustive()
    }
}

/// Additions to [`Context`] for servers with authorization.
#[cfg(feature = "authorization")]
pub trait ContextExt {
    /// Returns the grant of the caller, or `None` if the request was not authorized by a [`ResourceServer`](crate::ResourceServer).
    fn grant(&self) -> Option<&Grant>;

    /// Returns the token of the caller for exchanges, or `None` if there is no
    /// [`TokenExchange`](crate::TokenExchange) for the issuer of the token.
    fn caller_token(&self) -> Option<&CallerToken>;
}

impl ContextExt for Context {
    fn grant(&self) -> Option<&Grant> {
        self.extension()
    }

    fn caller_token(&self) -> Option<&CallerToken> {
        self.extension()
    }
}

/// The scopes of a grant, for the enforcement in the runtime.
#[derive(Debug)]
pub(super) struct GrantAuthority {
    pub(super) grant: Grant,
    pub(super) base: Arc<RequiredScopes>,
    pub(super) metadata_url: Arc<str>,
}

impl Authority for GrantAuthority {
    fn has_scope(&self, scope: &str) -> bool {
        self.grant.has_scope(scope)
    }

    fn base(&self) -> &RequiredScopes {
        &self.base
    }

    fn refusal(&self, scopes: &str) -> Value {
        json!({
            "error": "insufficient_scope",
            "scope": scopes,
            "resource_metadata": &*self.metadata_url,
        })
    }

    fn granted(&self) -> Vec<String> {
        self.grant.hierarchy.granted(self.grant.scopes())
    }
}
