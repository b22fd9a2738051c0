//! Clients of servers behind a proxy.

use std::path::Path;
use std::time::Duration;

use treenail::client::McpClientBuilder;

use super::authorization::oauth_client;
use super::stderr_tail::StderrTail;
use super::trace::Trace;
use super::{Pauses, base_builder, http, set_target};
use crate::args::ServerArgs;
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Timeout of each step of stopping a server, for programs that a host starts in place of the server.
///
/// Hosts on the official SDKs kill this program 2 seconds after SIGTERM, which may be the first that it sees of the end. The steps
/// before SIGTERM and SIGKILL of the server, and the rest of its standard error, have to fit into that.
pub(crate) const NESTED_SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(600);

/// Returns the builder of a client for a server behind a proxy. A program runs in `directory`, and `tail` has its standard error.
pub(crate) fn proxied_client(
    args: &ServerArgs,
    directory: Option<&Path>,
    (terminal, tail): (&Terminal, &StderrTail),
) -> Result<McpClientBuilder, Failure> {
    let trace = Trace::from_args(args, terminal)?;
    let (builder, limits) = base_builder(args, false);
    let limits = limits.shutdown_timeout(NESTED_SHUTDOWN_TIMEOUT);
    let builder = builder.limits(limits.clone()).validate_results(false);
    let builder = set_target(builder, args, directory, tail, &|url, headers| {
        // Requests of the proxy have no timer here.
        let oauth = oauth_client(args, terminal, &Pauses::default())?;
        http::open_session(args, (url, headers), oauth, (&limits, trace.as_ref()))
    })?;
    Ok(match trace {
        Some(trace) => builder.wrap_session(move |session| trace.wrap(session)),
        None => builder,
    })
}
