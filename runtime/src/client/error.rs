//! Why a request of a client has no result.

use std::sync::Arc;
use std::time::Duration;

use treenail_schema::CallToolResult;

use crate::client::{ContractError, Drift};
use crate::error::Error;
use crate::wire::RpcError;

/// Why a request of a client has no result, cut by what its caller can do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server has answered with an error. Only this one comes from the server's own words.
    #[error("the server refused: {0}")]
    Refused(RpcError),
    /// The tool was run and failed, where its output was asked for as a type; the result tells why.
    #[error("the tool failed: {}", told(.0))]
    Tool(Box<CallToolResult>),
    /// There was no answer in time; the request has been cancelled.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The connection is closed, or could not be opened. Requests that were waiting are lost, and it is not known
    /// whether the server has done what they asked for.
    #[error("the connection is closed: {0}")]
    Closed(Arc<str>),
    /// The server does not know the session any more (legacy era over HTTP).
    #[error("the server has ended the session")]
    SessionExpired,
    /// An HTTP server has answered with a status and no message of the protocol.
    #[error("the server answered with HTTP status {status}{}", shown(.body))]
    Http {
        /// The status, as in `404`.
        status: u16,
        /// The beginning of a body that is text.
        body: Arc<str>,
    },
    /// The server has sent what the protocol does not allow.
    #[error("the server broke the protocol: {0}")]
    Protocol(Arc<str>),
    /// The tool was run, and what it returned does not fit the type that it was asked for as; says where and why. Either the
    /// type or the tool has changed since the type was written.
    #[error("the output of the tool does not fit: {0}")]
    Output(Arc<str>),
    /// The server asked for input in the middle of a request, and there was none: nobody answers such questions, or the
    /// one who does has failed.
    #[error("the server's question has no answer: {0}")]
    Unanswered(Arc<str>),
    /// The server cannot do that: it has not declared the capability, or its revision does not have the method.
    #[error("not supported: {0}")]
    Unsupported(Arc<str>),
    /// The server is not what the contract says that this program was written against: it has changed by more than the
    /// caller takes. What is different is in the [`Drift`], and `Display` of that shows it.
    #[error("the server is not what its contract says: {}", .0.summary())]
    Drift(Arc<Drift>),
    /// What the caller gave cannot be sent, such as arguments that are not an object; nothing was sent.
    #[error("not sent: {0}")]
    Invalid(Arc<str>),
}

impl ClientError {
    /// Returns [`ClientError::Closed`] with this reason.
    pub fn closed(reason: impl Into<Arc<str>>) -> Self {
        Self::Closed(reason.into())
    }

    /// Returns [`ClientError::Protocol`] with this reason.
    pub fn protocol(reason: impl Into<Arc<str>>) -> Self {
        Self::Protocol(reason.into())
    }

    /// Returns [`ClientError::Unsupported`] with this reason.
    pub fn unsupported(reason: impl Into<Arc<str>>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// Returns [`ClientError::Invalid`] with this reason.
    pub fn invalid(reason: impl Into<Arc<str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// The error that the server has answered with, if that is what went wrong.
    pub fn as_refused(&self) -> Option<&RpcError> {
        match self {
            Self::Refused(error) => Some(error),
            _ => None,
        }
    }
}

impl From<RpcError> for ClientError {
    fn from(error: RpcError) -> Self {
        Self::Refused(error)
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        Self::Other(error.into())
    }
}

impl From<ContractError> for Error {
    fn from(error: ContractError) -> Self {
        Self::Other(error.into())
    }
}

/// What a tool that failed says of it.
fn told(result: &CallToolResult) -> &str {
    let mut texts = result.content.iter().filter_map(|block| block.as_text());
    texts.next().unwrap_or("it does not say why")
}

/// The beginning of a body, behind a colon.
fn shown(body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!(": {}", crate::wire::quoted(body))
}
