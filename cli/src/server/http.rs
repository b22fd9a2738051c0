//! Connections over HTTP.

use std::sync::Arc;

use treenail::auth::OAuth;
use treenail::client::{ClientLimits, HttpSession, Session};

use super::trace::Trace;
use crate::exit::Failure;

/// Creates a session with the server at `url` that adds `headers` to each request. A header `Authorization` replaces `oauth`.
pub(super) fn open_session(
    url: &str,
    headers: &[(String, String)],
    oauth: Option<OAuth>,
    (limits, trace): (&ClientLimits, Option<&Trace>),
) -> Result<Arc<dyn Session>, Failure> {
    let builder = HttpSession::builder(url).limits(limits.clone());
    let builder = headers.iter().fold(builder, |builder, (name, value)| {
        builder.header(name, value)
    });
    let is_set = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
    let builder = match (oauth.filter(|_| !headers.iter().any(is_set)), trace) {
        (Some(oauth), Some(trace)) => builder.authorization(trace.redacted(oauth)),
        (Some(oauth), None) => builder.authorization(oauth),
        (None, _) => builder,
    };
    Ok(Arc::new(builder.build()?))
}
