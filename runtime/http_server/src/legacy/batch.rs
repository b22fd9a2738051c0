//! Handling of one batch in a session.

use std::sync::Arc;

use http::StatusCode;
use treenail_runtime::internal::Message;
use treenail_runtime::{Connection, Handled, RpcError};

use crate::call_permits::reclaim_call_permits;
use crate::legacy::Legacy;
use crate::legacy::calls::CallGuard;
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
        if let Err(error) = branch.check_batch_scopes(messages) {
            return Err(refuse(&session, (stream.stream, guard), error));
        }
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
        drop(branch.release());
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
fn refuse(session: &Session, (stream, guard): (u64, CallGuard), error: RpcError) -> Rejection {
    drop(guard);
    session.finish_stream(stream);
    tracing::info!(scopes = %error.message, "refused a batch");
    Rejection::with_error(StatusCode::FORBIDDEN, None, error)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{self, Context, Wake};

    use http::Request;
    use treenail_runtime::Server;

    use super::*;
    use crate::legacy::session::{SessionKind, StreamHandle};
    use crate::legacy::store::EventId;

    /// Waker of the stream of a session.
    struct Waker {
        session: Arc<Session>,
        /// The stream was woken while no call was in flight.
        is_idle: AtomicBool,
    }

    impl Wake for Waker {
        fn wake(self: Arc<Self>) {
            if !self.session.has_calls() {
                self.is_idle.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Runs the end of a batch in a session of HTTP+SSE. Returns true if its stream was woken after that.
    fn wakes_stream(
        end: impl FnOnce(&Arc<Session>, Connection, (StreamHandle, CallGuard)),
    ) -> bool {
        let server = Server::builder("x", "1").build().unwrap();
        let connection = server.connect().for_one_session();
        let session = Arc::new(Session::new(connection, SessionKind::HttpSse, None, None));
        let parts = Request::new(()).into_parts().0;
        let (mut branch, handle) = session.open_request_stream(parts);
        let begun = begin_call(&session, &server, &mut branch, None, handle.stream);
        let Ok(guard) = begun else {
            panic!("the session has not ended");
        };
        let start = EventId::stream_start(session.shared_stream);
        let mut reader = session.events.read(start).unwrap();
        let waker = Arc::new(Waker {
            session: Arc::clone(&session),
            is_idle: AtomicBool::new(false),
        });
        let waiting = Arc::clone(&waker).into();
        let polled = reader.poll_next(&mut Context::from_waker(&waiting));
        assert!(polled.is_pending());
        end(&session, branch, (handle, guard));
        waker.is_idle.load(Ordering::Relaxed)
    }

    #[test]
    fn the_end_of_a_batch_without_output_wakes_a_stream_that_closes() {
        let is_woken = wakes_stream(|session, branch, call| {
            let handled = (Handled::Complete, Vec::new());
            assert!(respond(Arc::clone(session), branch, call, handled, None).is_ok());
        });
        assert!(is_woken);
    }

    #[tokio::test]
    async fn a_call_counts_until_its_response_is_on_the_stream() {
        wakes_stream(|session, branch, call| {
            let handled = (Handled::Complete, b"{}".to_vec());
            let reply = respond(Arc::clone(session), branch, call, handled, Some("1"));
            let Ok(Reply::Pending(mut reply)) = reply else {
                panic!("the response is sent on the stream");
            };
            assert!(session.has_calls());
            let polled = reply
                .as_mut()
                .poll(&mut Context::from_waker(task::Waker::noop()));
            assert!(polled.is_ready());
            assert!(!session.has_calls());
            assert_eq!(session.events.newest(session.shared_stream).number, 1);
        });
    }

    #[test]
    fn the_refusal_of_a_batch_wakes_a_stream_that_closes() {
        let is_woken = wakes_stream(|session, _, (handle, guard)| {
            refuse(
                session,
                (handle.stream, guard),
                RpcError::internal("a scope"),
            );
        });
        assert!(is_woken);
    }
}
