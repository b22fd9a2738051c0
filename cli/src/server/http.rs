//! Servers over HTTP.

use std::sync::Arc;

use treenail::client::{ClientLimits, Session};

use crate::exit::{Exit, Failure};

/// A connection to the server at a URL, with these headers in each request.
pub(super) fn open(
    url: &str,
    headers: &[(String, String)],
    limits: &ClientLimits,
) -> Result<Arc<dyn Session>, Failure> {
    let _ = (headers, limits);
    let message =
        format!("`{url}`: this build of treenail connects to programs only, not over HTTP");
    Err(Failure::new(Exit::Connection, message))
}
