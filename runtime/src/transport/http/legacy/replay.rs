//! A response that streams the events of a session.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::server::Server;
use crate::transport::http::exchange::ENOUGH;
use crate::transport::http::legacy::reader::Reader;
use crate::transport::http::legacy::session::Session;
use crate::transport::http::legacy::sessions::Leave;
use crate::transport::http::legacy::store::{Event, EventId};
use crate::transport::http::quiet::Quiet;
use crate::transport::http::slots::StreamSlot;
use crate::wire::keep_one_line;

/// How soon, in milliseconds, a client may come back after it has lost a stream.
const RETRY_MS: u32 = 1_000;

/// The events of one stream, each with its id.
pub(crate) struct Replay {
    reader: Reader,
    /// What stands before all events, and an event that has been taken over already.
    head: Option<String>,
    first: Option<Event>,
    own: Option<Own>,
    /// When its client has to ask again for the rest.
    until: Option<Pin<Box<Sleep>>>,
    layout: Layout,
    quiet: Quiet,
}

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// With an id, after which the stream can be resumed.
    Numbered,
    /// With a name, as HTTP+SSE wants it.
    Named,
}

/// The session whose own stream it is.
struct Own {
    session: Arc<Session>,
    server: Server,
    /// Ready once, when the server closes.
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Its place among the streams that listen.
    _slot: StreamSlot,
    /// Ends the session with its stream.
    leave: Option<Leave>,
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
            head: None,
            first,
            own: None,
            until: None,
            layout: Layout::Numbered,
            quiet: Quiet::default(),
        }
    }

    /// The same with an event without data before all others, so that the stream can be resumed from its beginning.
    pub(super) fn primed(mut self) -> Self {
        let first = self.first.as_ref().map(|first| EventId {
            number: first.id.number - 1,
            ..first.id
        });
        let id = first.unwrap_or(self.reader.after());
        self.head = Some(format!("retry: {RETRY_MS}\nid: {id}\ndata:\n\n"));
        self
    }

    /// The same until a time; then the client has to ask for the rest.
    pub(super) fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until.map(|until| Box::pin(sleep_until(until)));
        self
    }

    /// The same for the own stream of a session, which ends when the server closes.
    pub(super) fn of_session(
        mut self,
        session: Arc<Session>,
        server: &Server,
        slot: StreamSlot,
    ) -> Self {
        let (server, closing) = (server.clone(), server.clone());
        let closed = Box::pin(async move { closing.closed().await });
        self.own = Some(Own {
            session,
            server,
            closed,
            _slot: slot,
            leave: None,
        });
        self
    }

    /// The same for HTTP+SSE: first `head`, then events without ids, and the session ends with it.
    pub(super) fn once(mut self, head: String, leave: Leave) -> Self {
        (self.head, self.layout) = (Some(head), Layout::Named);
        if let Some(own) = &mut self.own {
            own.leave = Some(leave);
        }
        self
    }

    /// The next events, as many as there are now, or `None` at the end.
    pub(crate) fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        // It is looked at each time, so that it wakes this stream.
        let until = self.until.as_mut();
        let due = until.is_some_and(|until| until.as_mut().poll(context).is_ready());
        match self.head.take() {
            Some(head) => events.extend_from_slice(head.as_bytes()),
            None if due => return Poll::Ready(None),
            None => {}
        }
        if let Some(event) = self.first.take() {
            self.layout.write(&mut events, &event);
        }
        let closed = self.own.as_mut().is_some_and(|own| own.poll(context));
        while events.len() < ENOUGH {
            match self.reader.poll_next(context) {
                Poll::Ready(Some(event)) => self.layout.write(&mut events, &event),
                Poll::Pending if events.is_empty() && !closed => return self.quiet.poll(context),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.quiet.reset();
        Poll::Ready((!events.is_empty()).then(|| events.into()))
    }
}

impl Own {
    /// Takes over what the session tells of itself; whether the stream has to end, as soon as nothing is left to send.
    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        self.session.poll_own(context);
        let closed = self.server.is_closed() || self.closed.as_mut().poll(context).is_ready();
        // The answers to calls in flight have no other way.
        closed && (self.leave.is_none() || self.session.in_flight() == 0)
    }
}

impl Layout {
    fn write(self, out: &mut Vec<u8>, event: &Event) {
        let head = match self {
            Self::Numbered => format!("id: {}\ndata: ", event.id),
            Self::Named => "event: message\ndata: ".to_owned(),
        };
        out.extend_from_slice(head.as_bytes());
        let start = out.len();
        out.extend_from_slice(&event.message);
        keep_one_line(&mut out[start..]);
        out.extend_from_slice(b"\n\n");
    }
}
