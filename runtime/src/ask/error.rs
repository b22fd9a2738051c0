//! Why a question to the client has no answer.

use std::fmt;

use treenail_schema::{ClientCapabilities, MissingRequiredClientCapabilityErrorData, error_code};

use crate::json::json_tree;
use crate::wire::RpcError;

/// Reason why a question has no answer.
///
/// A function may return it with `?`: the model reads its message. Where the protocol defines an error for it, such as a missing
/// capability in the modern era, the client gets that error. It also does if the function fails with another error that repeats the
/// message, as its source or in its text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The user declined.
    Declined,
    /// The user dismissed the question without an answer.
    Cancelled,
    /// The client has not declared these capabilities, which the question needs.
    ///
    /// [`Ask::if_supported`](crate::ask::Ask::if_supported) turns it into `None`.
    Unsupported(Box<ClientCapabilities>),
    /// The client answered with an error.
    Refused(RpcError),
    /// The answer does not fit the question; the problem with it.
    Invalid(String),
    /// The question cannot be asked: the protocol does not allow it, the form does not accept the default of a field, or a bound
    /// of [`Limits`](crate::Limits) is reached.
    NotAllowed(String),
    /// There was no answer within [`Limits::elicitation_timeout`](crate::Limits::elicitation_timeout).
    TimedOut,
    /// The call has ended, or the client cannot respond any more, because it has disconnected or the server
    /// [closes](crate::Server::close).
    Closed,
    /// The call has become a task that cannot continue: a restart has interrupted work that must not run twice, or the state of
    /// the task could not be stored.
    Task(RpcError),
}

impl fmt::Display for AskError {
    #[inline]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined => formatter.write_str("the user declined"),
            Self::Cancelled => formatter.write_str("the user cancelled"),
            Self::Unsupported(required) => {
                let required = serde_json::to_string(required).unwrap_or_default();
                write!(
                    formatter,
                    "this needs a client with the capabilities {required}"
                )
            }
            Self::Refused(error) => write!(formatter, "the client could not answer: {error}"),
            Self::Invalid(problem) => {
                write!(formatter, "the answer is invalid: {problem}")
            }
            Self::NotAllowed(problem) => write!(formatter, "this cannot be asked: {problem}"),
            Self::TimedOut => formatter.write_str("there was no answer in time"),
            Self::Closed => formatter.write_str("the call has ended"),
            Self::Task(error) => formatter.write_str(&error.message),
        }
    }
}

impl std::error::Error for AskError {}

impl AskError {
    /// Returns the response to a request of the modern era that failed because of this error; `None` if the function decides.
    #[inline]
    pub(super) fn response(&self) -> Option<RpcError> {
        match self {
            Self::Unsupported(required) => {
                let data = MissingRequiredClientCapabilityErrorData::new((**required).clone());
                let error = RpcError::new(
                    error_code::MISSING_REQUIRED_CLIENT_CAPABILITY,
                    self.to_string(),
                );
                Some(match json_tree(&data) {
                    Ok(data) => error.with_data(data),
                    Err(_) => error,
                })
            }
            Self::Invalid(_) => Some(RpcError::invalid_params(self.to_string())),
            _ => None,
        }
    }
}
