//! A response that streams the events of a session.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::server::Server;
use crate::transport::http::exchange::ENOUGH;
use crate::transport::http::legacy::events::{Event, EventId, Reader};
use crate::transport::http::legacy::session::Session;
use crate::transport::http::quiet::Quiet;

/// How soon, in milliseconds, a client may come back after it has lost a stream.
const RETRY_MS: u32 = 1_000;

/// The events of one stream, each with its id.
pub(crate) struct Replay {
    reader: Reader,
    /// An event that has been taken over already, and the one that only tells an id.
    first: Option<Event>,
    priming: Option<EventId>,
    own: Option<Own>,
    quiet: Quiet,
}

/// The session whose own stream it is.
struct Own {
    session: Arc<Session>,
    server: Server,
    /// Ready once, when the server closes.
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
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
    pub(super) fn new(reader: Reader, first: Option<Event>) -> Self {
        Self {
            reader,
            first,
            priming: None,
            own: None,
            quiet: Quiet::default(),
        }
    }

    /// The same with an event without data before all others, so that the stream can be resumed from its beginning.
    pub(super) fn primed(mut self) -> Self {
        let first = self.first.as_ref().map(|first| EventId {
            number: first.id.number - 1,
            ..first.id
        });
        self.priming = Some(first.unwrap_or(self.reader.after()));
        self
    }

    /// The same for the own stream of a session, which ends when the server closes.
    pub(super) fn of_session(mut self, session: Arc<Session>, server: &Server) -> Self {
        let (server, closing) = (server.clone(), server.clone());
        let closed = Box::pin(async move { closing.closed().await });
        self.own = Some(Own {
            session,
            server,
            closed,
        });
        self
    }

    /// The next events, as many as there are now, or `None` at the end.
    pub(crate) fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        if let Some(id) = self.priming.take() {
            events.extend_from_slice(format!("retry: {RETRY_MS}\nid: {id}\ndata:\n\n").as_bytes());
        }
        if let Some(event) = self.first.take() {
            write_event(&mut events, &event);
        }
        let closed = self.own.as_mut().is_some_and(|own| {
            own.session.poll_own(context);
            own.server.is_closed() || own.closed.as_mut().poll(context).is_ready()
        });
        while events.len() < ENOUGH {
            match self.reader.poll_next(context) {
                Poll::Ready(Some(event)) => write_event(&mut events, &event),
                Poll::Pending if events.is_empty() && !closed => return self.quiet.poll(context),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.quiet.reset();
        Poll::Ready((!events.is_empty()).then(|| events.into()))
    }
}

fn write_event(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(format!("id: {}\ndata: ", event.id).as_bytes());
    out.extend_from_slice(&event.message);
    out.extend_from_slice(b"\n\n");
}
