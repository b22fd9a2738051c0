//! Errors of requests.

use std::error::Error;
use std::sync::Arc;

/// Error of a connector.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Error of a request, divided by the reaction of the caller.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HttpError {
    /// The request is invalid, or its target is not allowed. Nothing was sent.
    #[error("not sent: {0}")]
    Invalid(Arc<str>),
    /// No connection could be opened, or the server guarantees that it has not processed the request.
    #[error("the server cannot be reached: {0}")]
    Unreachable(Arc<str>),
    /// The connection was closed. The server may or may not have processed the request.
    #[error("the connection is closed: {0}")]
    Closed(Arc<str>),
    /// The server violated a limit of the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(Arc<str>),
}

impl HttpError {
    pub(crate) fn invalid(reason: impl Into<Arc<str>>) -> Self {
        Self::Invalid(reason.into())
    }

    pub(crate) fn unreachable(reason: impl Into<Arc<str>>) -> Self {
        Self::Unreachable(reason.into())
    }

    pub(crate) fn closed(reason: impl Into<Arc<str>>) -> Self {
        Self::Closed(reason.into())
    }

    pub(crate) fn protocol(reason: impl Into<Arc<str>>) -> Self {
        Self::Protocol(reason.into())
    }
}
