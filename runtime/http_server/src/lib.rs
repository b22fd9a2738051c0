//! Streamable HTTP for servers of the framework Treenail: one endpoint, one HTTP request per message.
//!
//! Use the crate `treenail`, which re-exports all of this in `treenail::http`. Modules:
//!
//! `service` checks a request: `request_headers` finds its headers, `checks` and `origin` judge them, and `body` reads or
//! discards its body. A modern message is handled by `modern`: it checks `headers` and `header_params` against the body and
//! runs the message on a new connection, whose messages `exchange` writes to the response. A legacy message is handled by
//! `legacy`, in its session. `sse` provides the
//! older HTTP+SSE transport at two more paths. `server` is a listener for programs without an HTTP stack, and `serve` extends
//! servers with it.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod accept;
mod authorize;
mod authorized;
mod body;
mod call_permits;
mod checks;
mod cors;
mod exchange;
mod head_timeout;
mod header_params;
mod headers;
mod keep_alive;
mod legacy;
mod modern;
mod origin;
mod read_ahead;
mod read_timeout;
mod request_headers;
mod respond;
mod response;
mod self_wake;
mod serve;
mod server;
mod service;
mod sse;
mod stream_permits;
mod write_timeout;

use http::StatusCode;
use http::request::Parts;
use treenail_runtime::{Connection, Principal};
use treenail_schema::error_code::{
    INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY, PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
};

pub use self::authorize::{AuthorizeFuture, Authorized, HttpAuthorizer, IntoHttpAuthorizer};
pub use self::legacy::SsePaths;
pub use self::response::HttpBody;
pub use self::serve::ServeHttp;
pub use self::server::HttpServer;
/// One connection without its socket, for simulations. May change in any release.
#[doc(hidden)]
pub use self::server::serve_stream;
pub use self::service::{HttpFuture, HttpService, http_service};

/// Adds the authorized caller or the principal set by a layer, if any, and the parts of the HTTP request to the extensions of
/// a new connection. Those of an authorized caller replace all others.
fn attach_extensions(connection: &mut Connection, mut parts: Parts) {
    let extensions = connection.extensions_mut();
    if let Some(caller) = parts.extensions.remove::<Authorized>() {
        *extensions = caller.extensions;
    }
    if let Some(principal) = parts.extensions.get::<Principal>() {
        extensions.insert(principal.clone());
    }
    extensions.insert(parts);
}

/// Removes a trailing slash from a path, because clients and routers add and remove it.
fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// Returns the HTTP status for a response with this error code, or without an error.
fn http_status(code: Option<i64>) -> StatusCode {
    match code {
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            PARSE_ERROR
            | INVALID_REQUEST
            | MISSING_REQUIRED_CLIENT_CAPABILITY
            | UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
