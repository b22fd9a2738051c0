//! Response body that streams the events of a session.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep_until};
use treenail_runtime::Server;
use treenail_runtime::internal::deadline::poll_timer;
use treenail_runtime::internal::keep_one_line;

use crate::exchange::WRITE_CHUNK_BYTES;
use crate::keep_alive::KeepAlive;
use crate::legacy::reader::Reader;
use crate::legacy::session::Session;
use crate::legacy::sessions::SessionGuard;
use crate::legacy::store::{Event, EventId};
use crate::stream_permits::StreamPermit;

/// Reconnection delay for clients, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// Maximum length of a piece of a long event. A client that takes longer than the write timeout to read it counts as stalled.
const PIECE_BYTES: usize = 64 << 10;

/// Events of one stream.
pub(crate) struct Replay {
    reader: Reader,
    /// Text before all events.
    preamble: Option<String>,
    /// Event that has already been taken from the reader.
    first: Option<Event>,
    session: Option<SharedStream>,
    /// Ready when the client has to reconnect for the rest.
    deadline: Option<Pin<Box<Sleep>>>,
    format: EventFormat,
    keep_alive: KeepAlive,
    /// Rest of a long chunk, which is sent in pieces.
    rest: Bytes,
}

/// Format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventFormat {
    /// With an id, from which the stream can be resumed.
    WithId,
    /// With a name, for HTTP+SSE.
    WithName,
}

/// State of a shared stream, as opposed to the stream of a request.
struct SharedStream {
    session: Arc<Session>,
    server: Server,
    /// Ready once, when the server closes.
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Ready when the authorization of the client may have ended.
    expiry: Option<Pin<Box<Sleep>>>,
    _permit: StreamPermit,
    /// Ends the session together with the stream.
    guard: Option<SessionGuard>,
}

impl fmt::Debug for Replay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Replay")
            .field("reader", &self.reader)
            .finish_non_exhaustive()
    }
}

impl Replay {
    /// Creates a response with the events of `reader` after `first`, and keep-alive comments at this interval.
    pub(super) fn new(reader: Reader, first: Option<Event>, keep_alive: Duration) -> Self {
        Self {
            reader,
            preamble: None,
            first,
            session: None,
            deadline: None,
            format: EventFormat::WithId,
            keep_alive: KeepAlive::new(keep_alive),
            rest: Bytes::new(),
        }
    }

    /// Adds a priming event without data, so that the stream can be resumed from its start.
    pub(super) fn with_priming_event(mut self) -> Self {
        let first = self.first.as_ref().map(|first| EventId {
            number: first.id.number - 1,
            ..first.id
        });
        let id = first.unwrap_or(self.reader.after());
        self.preamble = Some(format!("retry: {RETRY_MS}\nid: {id}\ndata:\n\n"));
        self
    }

    /// Ends the response at `deadline`, after which the client has to reconnect for the rest.
    pub(super) fn with_deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline.map(|deadline| Box::pin(sleep_until(deadline)));
        self
    }

    /// Makes it the stream of a session, which ends when the server closes.
    pub(super) fn for_session(
        mut self,
        session: Arc<Session>,
        server: &Server,
        permit: StreamPermit,
    ) -> Self {
        let (server, closing) = (server.clone(), server.clone());
        let closed = Box::pin(async move { closing.closed().await });
        self.session = Some(SharedStream {
            expiry: session.expires().map(|end| Box::pin(sleep_until(end))),
            session,
            server,
            closed,
            _permit: permit,
            guard: None,
        });
        self
    }

    /// Makes it a stream of HTTP+SSE: `preamble`, then events without ids. Its session ends with it.
    pub(super) fn for_http_sse(mut self, preamble: String, guard: SessionGuard) -> Self {
        (self.preamble, self.format) = (Some(preamble), EventFormat::WithName);
        if let Some(session) = &mut self.session {
            session.guard = Some(guard);
        }
        self
    }

    /// Returns all events that are ready, or the next piece of a long one, or `None` at the end.
    pub(crate) fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.rest.is_empty() {
            self.reader.record_progress();
            return Poll::Ready(Some(self.next_piece()));
        }
        self.poll_ready(context).map(|events| {
            self.rest = events?;
            Some(self.next_piece())
        })
    }

    fn next_piece(&mut self) -> Bytes {
        self.rest.split_to(self.rest.len().min(PIECE_BYTES))
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        // Poll the timer each time, so that it wakes this stream.
        let deadline = self.deadline.as_mut();
        let is_due = deadline.is_some_and(|it| poll_timer(it.as_mut(), context).is_ready());
        match self.preamble.take() {
            Some(preamble) => events.extend_from_slice(preamble.as_bytes()),
            None if is_due => return Poll::Ready(None),
            None => {}
        }
        if let Some(event) = self.first.take() {
            self.format.write_event(&mut events, &event);
        }
        let session = self.session.as_mut();
        let closing = session.is_some_and(|session| session.poll_closing(&self.reader, context));
        let mut closed = false;
        while events.len() < WRITE_CHUNK_BYTES {
            match self.reader.poll_next(context) {
                Poll::Ready(Some(event)) => self.format.write_event(&mut events, &event),
                Poll::Pending if events.is_empty() && !closed => {
                    // The end of a call wakes the reader from here on. Those that have ended since may have left events.
                    let session = self.session.as_ref().filter(|_| closing);
                    closed = session.is_some_and(SharedStream::is_finished);
                    if !closed {
                        return self.keep_alive.poll(context);
                    }
                }
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.keep_alive.reset();
        Poll::Ready((!events.is_empty()).then(|| events.into()))
    }
}

impl SharedStream {
    /// Moves outgoing messages of the session to the stream, while the client is authorized. Returns true if the stream must end
    /// once it is finished.
    fn poll_closing(&mut self, reader: &Reader, context: &mut Context<'_>) -> bool {
        let expired = self.poll_expired(context);
        if !expired {
            self.session.poll_shared_stream(reader, context);
        }
        expired || self.server.is_closed() || self.closed.as_mut().poll(context).is_ready()
    }

    /// Returns true if no call needs this stream. In HTTP+SSE, the responses of calls in flight do.
    fn is_finished(&self) -> bool {
        self.guard.is_none() || !self.session.has_calls()
    }

    /// Returns true if the authorization of the client has ended, and no later request has extended it.
    fn poll_expired(&mut self, context: &mut Context<'_>) -> bool {
        let (Some(expiry), Some(end)) = (&mut self.expiry, self.session.expires()) else {
            return false;
        };
        if end > expiry.deadline() {
            expiry.as_mut().reset(end);
        }
        poll_timer(expiry.as_mut(), context).is_ready()
    }
}

impl EventFormat {
    fn write_event(self, out: &mut Vec<u8>, event: &Event) {
        let head = match self {
            Self::WithId => format!("id: {}\ndata: ", event.id),
            Self::WithName => "event: message\ndata: ".to_owned(),
        };
        out.extend_from_slice(head.as_bytes());
        let start = out.len();
        out.extend_from_slice(&event.message);
        keep_one_line(&mut out[start..]);
        out.extend_from_slice(b"\n\n");
    }
}
