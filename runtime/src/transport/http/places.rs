//! Places for calls in the budget of the server, at the cost of calls that their clients have left alone.

use http::StatusCode;

use crate::server::Connection;
use crate::transport::http::legacy::Sessions;
use crate::transport::http::reply::Refusal;
use crate::wire::RpcError;

/// Sees to it that a connection may begin `calls` calls with its next message, as far as that can be done: if the budget is
/// used up, calls of sessions are ended whose answers nobody reads.
///
/// A client that begins calls and leaves could keep all others out otherwise; one that stays needs a connection for that.
pub(super) fn find_places(connection: &Connection, sessions: &Sessions, calls: usize) {
    if !connection.has_places(calls) {
        // Several at once, so that a flood of calls does not look through all sessions each time.
        let some = connection.server().limits().server_calls_in_flight / 16;
        let ended = sessions.end_left_calls(some.max(calls));
        tracing::debug!(ended, "calls that were left alone were ended for others");
    }
}

/// The refusal of a call for which there is no room.
pub(super) fn no_place(id: Option<&str>) -> Refusal {
    let error = RpcError::internal("as many calls are in flight as there may be");
    Refusal::of(StatusCode::SERVICE_UNAVAILABLE, id, error)
}
