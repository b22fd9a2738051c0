//! Verification of access tokens.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::Scopes;

/// A future of a [`Verifier`].
#[cfg(feature = "authorization")]
pub type VerifierFuture<'a> =
    Pin<Box<dyn Future<Output = Result<VerifiedToken, VerifyError>> + Send + 'a>>;

/// Verifies access tokens. The resource server checks the issuer, audience and expiry of the result again.
#[cfg(feature = "authorization")]
pub trait Verifier: Send + Sync + 'static {
    /// Verifies a token: at most 16 KiB of visible ASCII characters.
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a>;
}

impl<V: Verifier + ?Sized> Verifier for Arc<V> {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        (**self).verify(token)
    }
}

/// A verified access token, without its text.
///
/// Issuer, subject, audience and expiry are arguments of [`new`](Self::new), so no verifier can forget them.
#[cfg(feature = "authorization")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// The issuer, exactly as the authorization server writes it.
    pub issuer: String,
    /// The subject: the user, or the client itself if no user is involved.
    pub subject: String,
    /// The resources that the token was issued for.
    pub audience: Vec<String>,
    /// The time at which the token expires.
    pub expires_at: SystemTime,
    /// The client that the token was issued to.
    pub client_id: Option<String>,
    /// The granted scopes.
    pub scopes: Scopes,
    /// SHA-256 thumbprint of the key that the token is bound to (`cnf.jkt`, RFC 9449), in base64url.
    pub key_thumbprint: Option<String>,
    /// All other claims.
    pub claims: Map<String, Value>,
}

impl VerifiedToken {
    /// Returns a token without scopes and claims.
    pub fn new(
        issuer: impl Into<String>,
        subject: impl Into<String>,
        audience: impl IntoIterator<Item = impl Into<String>>,
        expires_at: SystemTime,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            audience: audience.into_iter().map(Into::into).collect(),
            expires_at,
            client_id: None,
            scopes: Scopes::default(),
            key_thumbprint: None,
            claims: Map::new(),
        }
    }
}

/// Reason why a token was not verified.
#[cfg(feature = "authorization")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is malformed, has a wrong signature, or is not for this resource. The client receives status 401.
    #[error("the token is invalid")]
    Invalid,
    /// The token has expired. The client receives status 401.
    #[error("the token has expired")]
    Expired,
    /// Keys or introspection cannot be reached. The client receives status 503.
    #[error("the token cannot be verified now")]
    #[non_exhaustive]
    Unavailable {
        /// Time after which the client may try again.
        retry_after: Duration,
    },
}

impl VerifyError {
    /// Returns [`VerifyError::Unavailable`] with the time after which the client may try again.
    pub const fn unavailable(retry_after: Duration) -> Self {
        Self::Unavailable { retry_after }
    }
}
