//! Handling of one batch in a session.

use std::sync::Arc;

use http::StatusCode;
use treenail_runtime::internal::Message;
use treenail_runtime::{Connection, Handled, RpcError};

use crate::call_permits::reclaim_call_permits;
use crate::legacy::Legacy;
use crate::legacy::dispatch::{begin_call, respond};
use crate::legacy::filtered::handle_filtered_on;
use crate::legacy::session::Session;
use crate::response::{Rejection, Reply};

/// Handles a batch posted to a session.
pub(super) fn dispatch_batch(
    session: Arc<Session>,
    legacy: Legacy<'_>,
    messages: &[&str],
) -> Result<Reply, Rejection> {
    let server = legacy.server;
    let (mut branch, stream) = session.open_request_stream(legacy.parts);
    let guard = begin_call(&session, server, &mut branch, None, stream.stream)?;
    if server.has_private_items() {
        let checked = branch.check_batch_scopes(messages);
        checked.map_err(|error| refuse(&session, stream.stream, error))?;
    }
    let mut out = Vec::new();
    let mut handled = handle_batch(&session, &mut branch, messages, &mut out);
    if let Handled::Deferred(_) = handled {
        reclaim_call_permits(&branch, legacy.sessions, branch.deferred_calls());
        handled = handle_batch(&session, &mut branch, messages, &mut out);
    }
    for id in branch.take_cancelled() {
        session.cancel(&id);
    }
    respond(session, branch, (stream, guard), (handled, out), None)
}

/// Handles a batch. Its calls run without the lock of the session, because their first poll may take long.
fn handle_batch(
    session: &Session,
    branch: &mut Connection,
    messages: &[&str],
    out: &mut Vec<u8>,
) -> Handled {
    branch.batch(messages, out, |branch, message, out| {
        if branch.server().has_private_items() {
            return handle_filtered_on(session, branch, message, out);
        }
        session.with_connection(|connection| {
            if let Ok(Message::Notification(_)) = message {
                let handled = connection.on_message(message, out);
                // It may have finished the handshake.
                branch.renew_handshake(connection);
                return handled;
            }
            // Subscriptions belong to the session, not to the branch.
            connection.swap_subscriptions(branch);
            let handled = branch.on_message(message, out);
            connection.swap_subscriptions(branch);
            handled
        })
    })
}

/// Refuses a batch whose caller lacks scopes.
fn refuse(session: &Session, stream: u64, error: RpcError) -> Rejection {
    session.remove_stream(stream);
    tracing::info!(scopes = %error.message, "refused a batch");
    Rejection::with_error(StatusCode::FORBIDDEN, None, error)
}
