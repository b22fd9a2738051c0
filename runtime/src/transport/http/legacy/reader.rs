//! Someone who reads one stream of a session.

use std::sync::Arc;
use std::task::{Context, Poll};

use crate::transport::http::legacy::events::Events;
use crate::transport::http::legacy::store::{Event, EventId};

/// Someone who reads a stream, until the stream ends or someone else reads it.
#[derive(Debug)]
pub(super) struct Reader {
    events: Arc<Events>,
    number: u64,
    after: EventId,
    over: bool,
    /// Nobody comes back, so nothing is kept of what has been read.
    once: bool,
}

impl Reader {
    pub(super) fn new(events: Arc<Events>, number: u64, after: EventId) -> Self {
        Self {
            events,
            number,
            after,
            over: false,
            once: false,
        }
    }

    /// The same for a stream that cannot be resumed.
    pub(super) fn once(mut self) -> Self {
        self.once = true;
        self
    }

    pub(super) fn after(&self) -> EventId {
        self.after
    }

    /// Whether the stream has sent this reader away, to come back later.
    pub(super) fn is_sent_away(&self) -> bool {
        let store = self.events.lock();
        let stream = store.streams.get(&self.after.stream);
        stream.is_some_and(|stream| stream.readers != self.number)
    }

    /// The next event; `None` at the end, or if someone else has begun to read.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut store = self.events.lock();
        let stream = store.streams.get_mut(&self.after.stream);
        let Some(stream) = stream.filter(|stream| !self.over && stream.readers == self.number)
        else {
            self.over = true;
            return Poll::Ready(None);
        };
        let after = self.after.number;
        let seen = stream
            .events
            .partition_point(|event| event.id.number <= after);
        if let Some(event) = stream.events.get(seen).cloned() {
            self.after = event.id;
            self.over = event.last;
            stream.read = event.id.number;
            stream.wake_writers();
            if self.once {
                let read = stream.events.pop_front();
                store.dropped(read);
            }
            return Poll::Ready(Some(event));
        }
        if stream.ended {
            self.over = true;
            return Poll::Ready(None);
        }
        stream.reader = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut store = self.events.lock();
        if let Some(stream) = store.streams.get_mut(&self.after.stream) {
            if stream.readers == self.number {
                stream.attached = false;
                stream.wake_writers();
            }
        }
        store.tidy(self.after.stream);
    }
}
