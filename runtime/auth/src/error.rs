//! Errors of authorization.

use std::sync::Arc;

#[cfg(feature = "client")]
use treenail_runtime::client::ClientError;

/// Error of authorization. No variant contains a token, a secret, or the body of a fetched document.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The configuration or an argument is invalid. No credentials were sent.
    #[error("{0}")]
    Invalid(Arc<str>),
    /// A document or response violates a requirement. Names the document, the member, the expectation and the remedy.
    #[error("{document}: {reason}")]
    #[non_exhaustive]
    Document {
        /// The document, such as `protected resource metadata at https://example.com/…`.
        document: Arc<str>,
        /// The violated requirement and the remedy.
        reason: Arc<str>,
    },
    /// The authorization server refused, with an error code of OAuth such as `invalid_grant`.
    #[error("the authorization server refused: {code}{}", describe(.description.as_deref()))]
    #[non_exhaustive]
    Refused {
        /// The error code.
        code: Arc<str>,
        /// Its description, at most 1 KiB with control characters escaped.
        description: Option<Arc<str>>,
    },
    /// A URL or address that this client does not contact, for example one of a private network.
    #[error("not contacted: {0}")]
    Forbidden(Arc<str>),
    /// A server did not answer, or the connection failed. A later attempt may succeed.
    #[error("{0}")]
    Unavailable(Arc<str>),
    /// The user did not approve, or no user could be asked.
    #[error("not authorized: {0}")]
    NotAuthorized(Arc<str>),
    /// The store of tokens failed.
    #[error("the token store failed: {0}")]
    Store(Arc<str>),
}

impl AuthError {
    /// Returns [`AuthError::Invalid`] with this reason.
    pub fn invalid(reason: impl Into<Arc<str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Returns [`AuthError::Document`] with this document and reason.
    pub fn document(document: impl Into<Arc<str>>, reason: impl Into<Arc<str>>) -> Self {
        Self::Document {
            document: document.into(),
            reason: reason.into(),
        }
    }

    /// Returns [`AuthError::Refused`] with this error code of OAuth and its description.
    pub fn refused(code: impl Into<Arc<str>>, description: Option<Arc<str>>) -> Self {
        Self::Refused {
            code: code.into(),
            description,
        }
    }
}

#[cfg(feature = "client")]
impl From<AuthError> for ClientError {
    fn from(error: AuthError) -> Self {
        Self::authorization(error)
    }
}

impl From<AuthError> for treenail_runtime::Error {
    fn from(error: AuthError) -> Self {
        Self::Other(error.into())
    }
}

fn describe(description: Option<&str>) -> String {
    description.map_or_else(String::new, |text| format!(": {text}"))
}
