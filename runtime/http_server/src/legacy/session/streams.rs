//! Streams of a session: their opening, the messages on them, and their end.

use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use tokio::time::Instant;
use treenail_runtime::Connection;
use treenail_runtime::internal::{StreamCloser, Unreviewed, deadline};

use super::{Session, SessionKind, lock};
use crate::attach_extensions;
use crate::legacy::reader::Reader;
use crate::legacy::store::EventId;
use crate::legacy::writer::Writer;

/// Stream for the output of a request, which may turn out to have none.
#[derive(Debug)]
pub(in crate::legacy) struct StreamHandle {
    pub(in crate::legacy) stream: u64,
    /// `None` for the shared stream, which has a reader.
    pub(in crate::legacy) reader: Option<Reader>,
}

impl Session {
    /// Returns the time at which a stream opened now must be closed, if there is one. Its client then reconnects.
    pub(in crate::legacy) fn stream_deadline(&self) -> Option<Instant> {
        let max_age = self.stream_max_age.filter(|_| self.supports_polling())?;
        Some(deadline::after(max_age))
    }

    /// Moves outgoing messages of the session's connection to the shared stream, whose reader is `reader`.
    ///
    /// A detached reader must not replace the wakers of its successor. It is detached before its successor registers any, so
    /// each test under the lock of a waker is sufficient.
    pub(in crate::legacy) fn poll_shared_stream(&self, reader: &Reader, context: &mut Context<'_>) {
        let mut stream_waker = lock(&self.stream_waker);
        if reader.is_detached() {
            return;
        }
        let old = stream_waker.replace(context.waker().clone());
        drop(stream_waker);
        // Without the lock, because a waker may own its task.
        drop(old);
        // Without room, the caller has events to send, and then polls again.
        while self.events.has_room(self.shared_stream) {
            let mut connection = lock(&self.connection);
            if reader.is_detached() {
                return;
            }
            let polled = connection.poll_unreviewed(context);
            drop(connection);
            let message = match polled {
                Poll::Ready(Unreviewed::Message(message)) => Some(message),
                // Without the lock, because it may run the user's code.
                Poll::Ready(Unreviewed::Change(review)) => {
                    let mut decision = review.decide();
                    lock(&self.connection).settle(&mut decision)
                }
                Poll::Pending => return,
            };
            if let Some(message) = message {
                self.events.push(self.shared_stream, message, false);
            }
        }
    }

    /// Marks all that the client has subscribed to as changed, because notifications on the shared stream were dropped.
    pub(in crate::legacy) fn resync_subscriptions(&self) {
        let waker = self.with_connection(Connection::resync_subscriptions);
        // Without the lock, because a waker may own its task.
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Opens a stream for a request, and creates a branch of the connection for it.
    pub(in crate::legacy) fn open_request_stream(
        &self,
        parts: Parts,
    ) -> (Connection, StreamHandle) {
        let is_read = self.events.is_read(self.shared_stream);
        // The connection stays as it is, so its stream need not be woken.
        let mut session = lock(&self.connection);
        let mut connection = session.branch();
        if is_read {
            connection.join_session(&session);
        }
        drop(session);
        // First, because it may replace all values.
        attach_extensions(&mut connection, parts);
        if self.kind == SessionKind::HttpSse {
            let (stream, reader) = (self.shared_stream, None);
            return (connection, StreamHandle { stream, reader });
        }
        let stream = self.events.open();
        let reader = self.events.read(EventId::stream_start(stream));
        if self.supports_polling() {
            let events = Arc::clone(&self.events);
            let closer = StreamCloser::new(move || events.detach(stream));
            connection.extensions_mut().insert(closer);
        }
        (connection, StreamHandle { stream, reader })
    }

    /// Sends a message on a stream, with back-pressure from its reader. A reader that makes no progress for the write timeout is
    /// detached.
    pub(in crate::legacy) async fn send(&self, stream: u64, message: Vec<u8>, last: bool) {
        let ends_stream = last && self.kind != SessionKind::HttpSse;
        let mut message = Some(message);
        let mut writer = Writer::new(&self.events, stream);
        while !writer
            .push(&mut message, ends_stream, self.write_timeout)
            .await
        {
            self.detach_reader(stream);
        }
    }

    /// Detaches a stalled reader. Its client can reconnect, except in HTTP+SSE.
    fn detach_reader(&self, stream: u64) {
        tracing::debug!("detached a client that does not read its stream");
        match self.kind {
            SessionKind::Streamable(_) => self.events.detach(stream),
            SessionKind::HttpSse => self.end(),
        }
    }

    /// Ends the stream of a request. The shared stream continues.
    pub(in crate::legacy) fn finish_stream(&self, stream: u64) {
        if stream == self.shared_stream {
            self.events.wake_reader(stream);
        } else {
            self.events.end(stream);
        }
    }

    /// Removes the stream of a request that needs none.
    pub(in crate::legacy) fn remove_stream(&self, stream: u64) {
        if stream != self.shared_stream {
            self.events.remove(stream);
        }
    }
}
