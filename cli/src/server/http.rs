//! Connections over HTTP.

use std::sync::Arc;

use treenail::client::{ClientLimits, HttpSession, Session};

use crate::exit::Failure;

/// Creates a session with the server at `url` that adds `headers` to each request.
pub(super) fn open_session(
    url: &str,
    headers: &[(String, String)],
    limits: &ClientLimits,
) -> Result<Arc<dyn Session>, Failure> {
    let builder = HttpSession::builder(url).limits(limits.clone());
    let builder = headers.iter().fold(builder, |builder, (name, value)| {
        builder.header(name, value)
    });
    Ok(Arc::new(builder.build()?))
}
