//! Failures of calls, as clients of the proxy see them.

use treenail_runtime::client::ClientError;
use treenail_runtime::{AskError, RpcError};
use treenail_schema::error_code::{HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION};

/// Reason why a call has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server, or the protocol, defines this error. It is passed on.
    Rpc(RpcError),
    /// The server could not be reached, did not answer, or broke the protocol.
    Server(String),
}

impl Failure {
    /// Describes a failed request to `server`.
    pub(crate) fn of(server: &str, error: &ClientError) -> Self {
        match error {
            // They are about the connection of the proxy, and would mislead its client about its own one.
            ClientError::Refused(RpcError {
                code: HEADER_MISMATCH | UNSUPPORTED_PROTOCOL_VERSION,
                message,
                ..
            }) => Self::Server(format!(
                "the server `{server}` did not accept a request of the proxy: {message}"
            )),
            ClientError::Refused(error) => Self::Rpc(error.clone()),
            error => Self::Server(format!("the server `{server}` did not answer: {error}")),
        }
    }

    /// Describes a question of `server` without an answer.
    pub(crate) fn unanswered(server: &str, method: &str, error: &AskError) -> Self {
        Self::Server(format!(
            "the server `{server}` sent a request (`{method}`) that was not answered: {error}"
        ))
    }

    /// Returns the JSON-RPC error.
    pub(crate) fn into_error(self) -> RpcError {
        match self {
            Self::Rpc(error) => error,
            Self::Server(message) => RpcError::internal(message),
        }
    }
}

/// The failure of a question that the function has to stop for is ignored: the runtime replaces it.
impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self::Server(error.to_string())
    }
}
