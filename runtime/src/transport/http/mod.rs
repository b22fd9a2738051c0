//! Streamable HTTP: one endpoint, a request of HTTP for each message.
//!
//! A request goes through `service` (what HTTP asks for), `origin` (who may ask), `body` (bounded reading), and then by its
//! era: `modern` checks `headers` and `mirror` against the body and runs the message on a connection of its own, whose
//! messages `exchange` puts into the answer, or `legacy` finds its session. `sse` is what old clients have
//! beside the endpoint. `server` is the listener for those who have no stack of their own.

mod accept;
mod body;
mod checks;
mod cors;
mod exchange;
mod headers;
mod legacy;
mod mirror;
mod modern;
mod origin;
mod places;
mod quiet;
mod reply;
mod server;
mod service;
mod slots;
mod sse;
mod stall;

pub use self::legacy::SsePaths;
pub use self::reply::HttpBody;
pub use self::server::HttpServer;
pub use self::service::{HttpFuture, HttpService, http_service};

use http::StatusCode;
use http::request::Parts;
use treenail_schema::error_code::{
    INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY, PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
};

use crate::extensions::Principal;
use crate::server::Connection;

/// Tells functions who is calling, if a layer has found that out, and with which headers.
fn introduce(connection: &mut Connection, parts: Parts) {
    let extensions = connection.extensions_mut();
    if let Some(principal) = parts.extensions.get::<Principal>() {
        extensions.insert(principal.clone());
    }
    extensions.insert(parts);
}

/// A path without the slash at its end, which clients and routers add and take away.
fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// The status of an answer that is, or is not, an error.
fn status(code: Option<i64>) -> StatusCode {
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
