//! Responses of HTTP+SSE, which wait for room in the one stream of their session.

use std::sync::Arc;

use crate::legacy::calls::CallGuard;
use crate::legacy::dispatch::{accepted, is_valid_request, plain_response};
use crate::legacy::session::Session;
use crate::response::Reply;

/// Response on the shared stream. It counts as a call until it is sent or dropped, so that a stream that closes waits for it.
pub(super) struct SharedResponse {
    session: Arc<Session>,
    guard: Option<CallGuard>,
}

impl SharedResponse {
    /// Creates the response to a call with this guard.
    pub(super) fn of_call(session: Arc<Session>, guard: CallGuard) -> Self {
        let guard = Some(guard);
        Self { session, guard }
    }

    /// Creates the response to a message that was handled without a call.
    pub(super) fn new(session: Arc<Session>) -> Self {
        let begun = session.begin_call(None, session.shared_stream);
        let guard = begun.map(|(guard, _)| guard);
        Self { session, guard }
    }

    /// Sends `messages` and then `out`, which may be empty. The error of a malformed message is the response to its POST.
    pub(super) fn send(self, messages: Vec<Vec<u8>>, out: Vec<u8>, id: Option<&str>) -> Reply {
        let has_response = !out.is_empty() && is_valid_request(&out, id);
        if messages.is_empty() && !has_response {
            return plain_response(out, id).into();
        }
        let messages = messages.into_iter().chain(has_response.then_some(out));
        Reply::pending(async move {
            let stream = self.session.shared_stream;
            for message in messages {
                self.session.send(stream, message, false).await;
            }
            Ok(accepted())
        })
    }
}

impl Drop for SharedResponse {
    fn drop(&mut self) {
        self.guard = None;
        // If it is closing, it waits for the end of the calls.
        self.session.finish_stream(self.session.shared_stream);
    }
}
