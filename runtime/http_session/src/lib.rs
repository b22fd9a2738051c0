//! Client sessions over Streamable HTTP for the framework Treenail, with servers of all eras.
//!
//! Use the crate `treenail`, which re-exports all of this in `treenail::client`. Modules:
//!
//! - Outgoing: `message` and `headers` compose a request, `sender` sends it through the connection pool of the crate `treenail-http-client`.
//! - Incoming: `response` classifies a response by status and type, `events` reads it if it is a stream, and `incoming`
//!   dispatches each message to the request (`pending`) or the handler that it belongs to.
//! - `authorized` sends requests with credentials that change. Their interface, `HttpAuthorization`, is a part of the runtime.
//! - `exchange` is one request from start to end, and `response_stream` its answer on a stream. `inner` is the state that all requests share.
//! - Legacy era only: `session_state`, `unknown_session` (servers that do not answer with status 404), `get_stream` (messages that
//!   belong to no request) and `sse_2024_11_05`.
//! - `client_builder` extends the builders of clients, and `builder` is that of a session.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod authorized;
mod backoff;
mod builder;
mod client_builder;
mod events;
mod exchange;
mod get_stream;
mod headers;
mod incoming;
mod inner;
mod message;
mod pending;
mod reply_route;
mod response;
mod response_stream;
mod sender;
mod session;
mod session_state;
mod source;
mod sse_2024_11_05;
mod unknown_session;

use treenail_http_client::HttpError;
use treenail_runtime::client::ClientError;

pub use self::builder::HttpSessionBuilder;
pub use self::client_builder::HttpClientBuilderExt;
pub use self::session::HttpSession;
#[cfg(feature = "dial")]
#[doc(hidden)]
pub use treenail_http_client::{ByteStream, Dial, DialFuture};
pub use treenail_http_client::{HttpClient, HttpClientBody, HttpClientFuture, NotSent, TlsConfig};

/// Text of a result, or the error in its place.
type Answer = Result<String, ClientError>;

/// Converts an error of the HTTP client.
fn from_http(error: HttpError) -> ClientError {
    match error {
        HttpError::Invalid(reason) => ClientError::Invalid(reason),
        HttpError::Unreachable(reason) => ClientError::Unreachable(reason),
        HttpError::Closed(reason) => ClientError::Closed(reason),
        HttpError::Protocol(reason) => ClientError::Protocol(reason),
    }
}
