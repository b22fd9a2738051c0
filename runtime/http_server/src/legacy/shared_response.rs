//! Responses of HTTP+SSE, which wait for room in the one stream of their session.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use crate::legacy::calls::CallGuard;
use crate::legacy::dispatch::{accepted, is_valid_request, plain_response};
use crate::legacy::session::Session;
use crate::response::Reply;

/// Response on the shared stream. It counts as a call until it is sent or dropped, so that a stream that closes waits for it.
pub(super) struct SharedResponse {
    session: Arc<Session>,
    guard: Option<CallGuard>,
    is_of_call: bool,
}

impl SharedResponse {
    /// Creates the response to a call with this guard.
    ///
    /// It is sent even if its POST is given up, because the call had its effects. Meanwhile it is one of the calls in flight, so their
    /// limit bounds the number of such responses.
    pub(super) fn of_call(session: Arc<Session>, guard: CallGuard) -> Self {
        guard.count_one();
        Self {
            session,
            guard: Some(guard),
            is_of_call: true,
        }
    }

    /// Creates the response to a message that was handled without a call. It is dropped if its POST is given up.
    pub(super) fn new(session: Arc<Session>) -> Self {
        let begun = session.begin_call(None, session.shared_stream);
        let guard = begun.map(|(guard, _)| guard);
        Self {
            session,
            guard,
            is_of_call: false,
        }
    }

    /// Sends `messages` and then `out`, which may be empty. The error of a malformed message is the response to its POST.
    pub(super) fn send(self, messages: Vec<Vec<u8>>, out: Vec<u8>, id: Option<&str>) -> Reply {
        let has_response = !out.is_empty() && is_valid_request(&out, id);
        if messages.is_empty() && !has_response {
            return plain_response(out, id).into();
        }
        let messages = messages.into_iter().chain(has_response.then_some(out));
        let session = Arc::clone(&self.session);
        let sending = async move {
            for message in messages {
                session.send(session.shared_stream, message, false).await;
            }
        };
        if self.is_of_call {
            let sending = Continued::new(sending, self);
            return Reply::pending(async move {
                sending.await;
                Ok(accepted())
            });
        }
        Reply::pending(async move {
            sending.await;
            drop(self);
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

/// Sending of the response to a call, which a task continues if it is dropped before its end. It ends when the call is stopped.
struct Continued {
    /// `None` after its end.
    sending: Option<(Sending, SharedResponse)>,
    /// The runtime of the request, for a drop outside of it.
    runtime: Handle,
}

type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Continued {
    fn new(sending: impl Future<Output = ()> + Send + 'static, response: SharedResponse) -> Self {
        Self {
            sending: Some((Box::pin(sending), response)),
            runtime: Handle::current(),
        }
    }
}

impl Future for Continued {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // A panic drops the response.
        let Some((mut sending, response)) = self.sending.take() else {
            return Poll::Ready(());
        };
        let guard = response.guard.as_ref();
        if !guard.is_some_and(CallGuard::is_running) {
            return Poll::Ready(());
        }
        let polled = sending.as_mut().poll(context);
        if polled.is_pending() {
            self.sending = Some((sending, response));
        }
        polled
    }
}

impl Drop for Continued {
    fn drop(&mut self) {
        let Some((sending, mut response)) = self.sending.take() else {
            return;
        };
        let Some(guard) = response.guard.take() else {
            return;
        };
        let session = Arc::clone(&response.session);
        session
            .calls
            .spawn_call(&self.runtime, guard, |guard| async move {
                response.guard = Some(guard);
                sending.await;
                drop(response);
            });
    }
}
