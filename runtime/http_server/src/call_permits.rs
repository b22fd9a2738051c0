//! Call permits of the server, reclaimed from abandoned calls if necessary.

use http::StatusCode;
use treenail_runtime::{Connection, RpcError};

use crate::legacy::Sessions;
use crate::response::Rejection;

/// Tries to make permits available for the `calls` calls of the next message of a connection.
///
/// If the server has too few permits left, it ends abandoned calls: those of legacy sessions whose output is not being read.
/// Otherwise a client could block all others by starting calls and disconnecting. A client that waits for its calls needs a
/// connection for each, and connections are limited.
pub(super) fn reclaim_call_permits(connection: &Connection, sessions: &Sessions, calls: usize) {
    if !connection.has_places(calls) {
        // End several at once, so that a flood of calls does not search all sessions each time.
        let batch = connection.server().limits().server_calls_in_flight / 16;
        let ended = sessions.end_abandoned_calls(batch.max(calls));
        tracing::debug!(ended, "ended abandoned calls to free call permits");
    }
}

/// Returns the rejection of a call for which there is no permit.
pub(super) fn over_capacity(id: Option<&str>) -> Rejection {
    let error = RpcError::internal("too many calls are in flight");
    Rejection::with_error(StatusCode::SERVICE_UNAVAILABLE, id, error)
}
