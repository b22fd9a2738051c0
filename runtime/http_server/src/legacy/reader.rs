//! Reader of one stream of a session.

use std::sync::Arc;
use std::task::{Context, Poll};

use crate::legacy::events::Events;
use crate::legacy::store::{Event, EventId, Wakers};

/// Reader of a stream, until the stream ends or another reader replaces it.
#[derive(Debug)]
pub(super) struct Reader {
    events: Arc<Events>,
    generation: u64,
    after: EventId,
    finished: bool,
    /// The stream cannot be resumed, so events are dropped once they have been read.
    not_resumable: bool,
}

impl Reader {
    pub(super) fn new(events: Arc<Events>, generation: u64, after: EventId) -> Self {
        Self {
            events,
            generation,
            after,
            finished: false,
            not_resumable: false,
        }
    }

    /// Drops events once they have been read, for a stream that cannot be resumed.
    pub(super) fn not_resumable(mut self) -> Self {
        self.not_resumable = true;
        self
    }

    pub(super) fn after(&self) -> EventId {
        self.after
    }

    /// Returns true if the stream has detached this reader. The client can reconnect.
    pub(super) fn is_detached(&self) -> bool {
        let store = self.events.lock();
        let stream = store.streams.get(self.after.stream);
        stream.is_some_and(|stream| stream.reader_generation != self.generation)
    }

    /// Records that the client reads a long event, so that the reader does not count as stalled.
    pub(super) fn record_progress(&self) {
        self.events.change(self.after.stream, |stream| {
            if stream.reader_generation != self.generation {
                return Wakers::default();
            }
            // Writers without room wait again, from now on.
            stream.take_writers()
        });
    }

    /// Returns the next event. `None` at the end, or once another reader is attached.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut store = self.events.lock();
        let stream = store.streams.get_mut(self.after.stream);
        let is_current = !self.finished;
        let Some(stream) =
            stream.filter(|stream| is_current && stream.reader_generation == self.generation)
        else {
            self.finished = true;
            return Poll::Ready(None);
        };
        let after = self.after.number;
        let seen = stream
            .events
            .partition_point(|event| event.id.number <= after);
        if let Some(event) = stream.events.get(seen).cloned() {
            self.after = event.id;
            self.finished = event.last;
            stream.read = event.id.number;
            let wakers = stream.take_writers();
            if self.not_resumable {
                let read = stream.events.pop_front();
                store.count_dropped(read);
            }
            drop(store);
            wakers.wake();
            return Poll::Ready(Some(event));
        }
        if stream.ended {
            self.finished = true;
            return Poll::Ready(None);
        }
        let old = stream.reader.replace(context.waker().clone());
        drop(store);
        // Without the lock, because a waker may own its task.
        drop(old);
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Dropped without the lock, because a waker may own its task.
        let mut waker = None;
        self.events.change(self.after.stream, |stream| {
            if stream.reader_generation != self.generation {
                return Wakers::default();
            }
            self.events.last_use.touch();
            stream.attached = false;
            waker = stream.reader.take();
            stream.take_writers()
        });
    }
}
