//! Errors of client requests.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use treenail_schema::CallToolResult;

use crate::client::{ContractError, Drift, Unauthorized};
use crate::error::Error;
use crate::wire::RpcError;

/// Error of a client request. The variants are divided by the reaction of the caller.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with a JSON-RPC error. No other variant contains an error object of the server.
    #[error("the server refused: {0}")]
    Refused(RpcError),
    /// A call with a typed output ran the tool, and the tool failed. The result contains the reason.
    #[error("the tool failed: {}", tool_message(.0))]
    Tool(Box<CallToolResult>),
    /// No answer arrived before the timeout; the request was cancelled.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The call had become a task of the server, and the task was cancelled: by this client or another one, or by the server.
    #[error("the task was cancelled{}", reason_suffix(.0))]
    Cancelled(Arc<str>),
    /// The connection is closed, or could not be opened. The server may or may not have executed the requests that were
    /// pending.
    #[error("the connection is closed: {0}")]
    Closed(Arc<str>),
    /// The server has ended the session (legacy era over HTTP).
    #[error("the server has ended the session")]
    SessionExpired,
    /// An HTTP server answered with an error status and without a JSON-RPC message.
    #[error("{url} answered with HTTP status {status}{}", body_suffix(.body))]
    Http {
        /// The URL of the request, without its query.
        url: Arc<str>,
        /// The status, as in `404`.
        status: u16,
        /// The first bytes of the body, if it is text.
        body: Arc<str>,
    },
    /// An HTTP server answered with status 401, or with status 403 and a challenge or no JSON-RPC message: the credentials are
    /// missing, invalid or insufficient. The challenges describe the expected ones.
    #[error("{0}")]
    Unauthorized(Arc<Unauthorized>),
    /// The [`HttpAuthorization`](crate::client::HttpAuthorization) of the session failed, with this error of its own. The
    /// request was not sent, or the server refused it.
    #[error("no authorization: {0}")]
    Authorization(Arc<dyn StdError + Send + Sync>),
    /// The server violated the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(Arc<str>),
    /// The tool ran, but its output does not match the requested type; contains the place and the reason. Either the type or
    /// the tool has changed since the type was written.
    #[error("the output of the tool does not match its type: {0}")]
    Output(Arc<str>),
    /// The server requested input during a request, and the client has no handler for it, or the handler failed.
    #[error("the server's request for input was not answered: {0}")]
    Unanswered(Arc<str>),
    /// The server does not support the request: the capability is not declared, or the revision has no such method.
    #[error("not supported: {0}")]
    Unsupported(Arc<str>),
    /// The server differs from the contract of this program by more than the caller accepts. The [`Drift`] lists the
    /// differences, and its `Display` shows them.
    #[error("the server differs from its contract: {}", .0.summary())]
    Drift(Arc<Drift>),
    /// The request is invalid, for example because its arguments are not an object. Nothing was sent.
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

    /// Returns [`ClientError::Authorization`] with this error.
    pub fn authorization(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::Authorization(Arc::new(error))
    }

    /// Returns [`ClientError::Unsupported`] with this reason.
    pub fn unsupported(reason: impl Into<Arc<str>>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// Returns [`ClientError::Invalid`] with this reason.
    pub fn invalid(reason: impl Into<Arc<str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Returns the JSON-RPC error of the server, for [`ClientError::Refused`].
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

/// Returns the first text in the result of a failed tool.
fn tool_message(result: &CallToolResult) -> &str {
    result.as_text().unwrap_or("no reason given")
}

/// Returns the reason after a colon.
fn reason_suffix(reason: &str) -> String {
    if reason.is_empty() {
        return String::new();
    }
    format!(": {}", crate::wire::quoted(reason))
}

/// Returns the body, quoted and after a colon.
fn body_suffix(body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!(": {}", crate::wire::quoted(body))
}
