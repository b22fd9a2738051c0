//! Errors of client requests.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use treenail_schema::{CallToolResult, error_code};

use crate::client::{ContractError, Drift, Unauthorized};
use crate::error::Error;
use crate::typed_contract::text_of_blocks;
use crate::wire::RpcError;

/// Error of a client request. The variants are divided by the reaction of the caller.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with a JSON-RPC error. No other variant contains an error object of the server. Over HTTP, an error
    /// with status 429, 502, 503 or 504 is [`Http`](Self::Http) instead: the server has not considered the request.
    Refused(RpcError),
    /// A call with a typed output ran the tool, and the tool failed. The result contains the reason.
    Tool(Box<CallToolResult>),
    /// No answer arrived before the timeout; the request was cancelled.
    Timeout(Duration),
    /// The call had become a task of the server, and the task was cancelled: by this client or another one, or by the server.
    Cancelled(Arc<str>),
    /// The server cannot be reached: no connection could be opened, its program could not be started, it has refused the
    /// request over HTTP/2, or an HTTP client of the user has not sent it. It has not executed the request, so a later attempt is safe.
    Unreachable(Arc<str>),
    /// The connection is closed. The server may or may not have executed the requests that were pending.
    Closed(Arc<str>),
    /// The session has ended (legacy era over HTTP).
    SessionExpired,
    /// An HTTP server answered with an error status and without a JSON-RPC message, or with status 429, 502, 503 or 504: it is
    /// overloaded or not reachable, and a later request may succeed.
    #[non_exhaustive]
    Http {
        /// The URL of the request, without its query.
        url: Arc<str>,
        /// The status, as in `404`.
        status: u16,
        /// The message of the JSON-RPC error, if there is one, or the first bytes of the body, if it is text.
        body: Arc<str>,
        /// The delay of the header `Retry-After`, at most a day; see [`ClientError::retry_after`].
        retry_after: Option<Duration>,
    },
    /// An HTTP server answered with status 401, or with status 403 and a challenge or no JSON-RPC message: the credentials are
    /// missing, invalid or insufficient. The challenges describe the expected ones.
    Unauthorized(Arc<Unauthorized>),
    /// The [`HttpAuthorization`](crate::client::HttpAuthorization) of the session failed, with this error of its own. The
    /// request was not sent, or the server refused it.
    Authorization(Arc<dyn StdError + Send + Sync>),
    /// The server violated the protocol.
    Protocol(Arc<str>),
    /// The answer is longer than this number of bytes, the
    /// [`message_bytes`](crate::client::ClientLimits::message_bytes) of the client.
    TooLong(usize),
    /// The tool ran, but its output does not match the requested type; contains the place and the reason. Either the type or
    /// the tool has changed since the type was written.
    Output(Arc<str>),
    /// The server requested input during a request, and the client has no handler for it, the handler failed, or the server
    /// refused the answer.
    Unanswered(Arc<str>),
    /// The server does not support the request: the capability is not declared, or the revision has no such method.
    Unsupported(Arc<str>),
    /// The server differs from the contract of this program by more than the caller accepts. The [`Drift`] lists the
    /// differences, and its `Display` shows them.
    Drift(Arc<Drift>),
    /// The request is invalid, for example because its arguments are not an object. Nothing was sent.
    Invalid(Arc<str>),
}

impl fmt::Display for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, reason): (&str, &dyn fmt::Display) = match self {
            Self::Refused(error) => ("the server refused: ", error),
            Self::Tool(result) => ("the tool failed: ", &tool_message(result)),
            Self::Timeout(after) => return write!(formatter, "no answer within {after:?}"),
            Self::Cancelled(reason) => ("the task was cancelled", &suffix(reason)),
            Self::Unreachable(reason) => ("the server cannot be reached: ", reason),
            Self::Closed(reason) => ("the connection is closed: ", reason),
            Self::SessionExpired => ("the session has ended", &""),
            Self::Http {
                url, status, body, ..
            } => {
                let (suffix, hint) = (suffix(body), path_hint(url, *status));
                return write!(
                    formatter,
                    "{url} answered with HTTP status {status}{suffix}{hint}"
                );
            }
            Self::Unauthorized(challenge) => ("", challenge),
            Self::Authorization(error) => ("no authorization: ", error),
            Self::Protocol(reason) => ("the server broke the protocol: ", reason),
            Self::TooLong(limit) => {
                let limit_name = "ClientLimits::message_bytes";
                return write!(
                    formatter,
                    "the answer is longer than `{limit_name}` ({limit})"
                );
            }
            Self::Output(reason) => ("the output of the tool does not match its type: ", reason),
            Self::Unanswered(reason) => {
                ("the server's request for input was not answered: ", reason)
            }
            Self::Unsupported(reason) => ("not supported: ", reason),
            Self::Drift(drift) => ("the server differs from its contract: ", &drift.summary()),
            Self::Invalid(reason) => ("not sent: ", reason),
        };
        write!(formatter, "{before}{reason}")
    }
}

/// The text of an [`HttpAuthorization`](crate::client::HttpAuthorization) error is part of the message, so the source is its cause.
impl StdError for ClientError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Authorization(error) => error.source(),
            _ => None,
        }
    }
}

impl ClientError {
    /// Returns [`ClientError::Unreachable`] with this reason.
    pub fn unreachable(reason: impl Into<Arc<str>>) -> Self {
        Self::Unreachable(reason.into())
    }

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

    /// Returns [`ClientError::Http`] for a response with an error `status` from `url`, with its `body` and the delay of its header
    /// `Retry-After`. For sessions of your own.
    pub fn http(
        url: impl Into<Arc<str>>,
        status: u16,
        body: impl Into<Arc<str>>,
        retry_after: Option<Duration>,
    ) -> Self {
        Self::Http {
            url: url.into(),
            status,
            body: body.into(),
            retry_after,
        }
    }

    /// Returns [`ClientError::Unsupported`] with this reason.
    pub fn unsupported(reason: impl Into<Arc<str>>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// Returns [`ClientError::Invalid`] with this reason.
    pub fn invalid(reason: impl Into<Arc<str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Returns true if the server does not have the method, so that another attempt would fail too. Other errors may be temporary.
    #[doc(hidden)]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Unsupported(_) => true,
            Self::Refused(error) => error.code == error_code::METHOD_NOT_FOUND,
            _ => false,
        }
    }

    /// Returns the error of a later message of a request that the server has begun to execute: it is not certain that it has not been
    /// executed.
    #[doc(hidden)]
    #[must_use]
    pub fn after_start(self) -> Self {
        match self {
            Self::Unreachable(reason) => Self::Closed(reason),
            other => other,
        }
    }

    /// Returns the delay after which an HTTP server accepts requests again: the header `Retry-After` of a response with an error
    /// status, such as 429 or 503, as seconds or as a date. At most a day.
    ///
    /// ```
    /// use treenail::client::{ClientError, McpClient};
    ///
    /// async fn add(client: &McpClient) -> Result<i64, ClientError> {
    ///     let arguments = serde_json::json!({"a": 1, "b": 2});
    ///     let sum = client.call_tool_as("add", &arguments).await;
    ///     match sum.as_ref().err().and_then(ClientError::retry_after) {
    ///         Some(delay) => tokio::time::sleep(delay).await,
    ///         None => return sum,
    ///     }
    ///     client.call_tool_as("add", &arguments).await
    /// }
    /// ```
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Http { retry_after, .. } => *retry_after,
            _ => None,
        }
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

/// Returns the texts in the result of a failed tool.
fn tool_message(result: &CallToolResult) -> String {
    let texts = text_of_blocks(&result.content);
    if texts.is_empty() {
        return "no reason given".to_owned();
    }
    texts
}

/// Returns a text of the server, quoted and after a colon.
fn suffix(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!(": {}", crate::wire::quoted(text))
}

/// Returns a hint for a status that means a wrong path, if the URL has no path.
fn path_hint(url: &str, status: u16) -> &'static str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let has_path = authority
        .split_once('/')
        .is_some_and(|(_, path)| !path.is_empty());
    if matches!(status, 404 | 405) && !has_path {
        "; the endpoint of the server may have another path, such as `/mcp`"
    } else {
        ""
    }
}
