//! The streams of one session: events that are kept until they are read, and a while longer for clients that come back.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use crate::limits::Limits;
use crate::transport::http::legacy::reader::Reader;
use crate::transport::http::legacy::store::{EventId, Store};

/// All streams of one session.
#[derive(Debug)]
pub(super) struct Events {
    store: Mutex<Store>,
}

impl Events {
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        let store = Store::new(limits.http.session_events, limits.http.session_bytes);
        Arc::new(Self {
            store: Mutex::new(store),
        })
    }

    /// Begins a stream.
    pub(super) fn open(&self) -> u64 {
        self.lock().open()
    }

    /// Adds a message to a stream, unless that has ended.
    pub(super) fn push(&self, id: u64, message: Vec<u8>, last: bool) {
        self.lock().push(id, message, last);
    }

    /// Adds a message to a stream when that has room for it. It is taken over then.
    pub(super) async fn tell(&self, id: u64, message: &mut Option<Vec<u8>>, last: bool) {
        poll_fn(|context| {
            let mut store = self.lock();
            if !store.has_room(id, context) {
                return Poll::Pending;
            }
            if let Some(message) = message.take() {
                store.push(id, message, last);
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Waits until a stream has room for a message.
    pub(super) fn poll_room(&self, id: u64, context: &mut Context<'_>) -> Poll<()> {
        if self.lock().has_room(id, context) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Ends a stream without a further message.
    pub(super) fn end(&self, id: u64) {
        let mut store = self.lock();
        if let Some(stream) = store.streams.get_mut(&id) {
            stream.ended = true;
            stream.wake_reader();
            stream.wake_writers();
        }
        store.tidy(id);
    }

    /// Forgets a stream.
    pub(super) fn forget(&self, id: u64) {
        self.lock().remove(id);
    }

    /// Sends away who reads a stream, which goes on without.
    pub(super) fn detach(&self, id: u64) {
        let mut store = self.lock();
        if let Some(stream) = store.streams.get_mut(&id) {
            stream.detach();
        }
        store.tidy(id);
    }

    /// Lets who reads a stream look at it again.
    pub(super) fn wake_reader(&self, id: u64) {
        if let Some(stream) = self.lock().streams.get_mut(&id) {
            stream.wake_reader();
        }
    }

    /// Begins to read a stream after an event; whoever has read it before gets nothing more. `None` if there is no such
    /// stream any more, or has been no such event.
    pub(super) fn read(self: &Arc<Self>, after: EventId) -> Option<Reader> {
        let mut store = self.lock();
        let stream = store.streams.get_mut(&after.stream);
        let stream = stream.filter(|stream| after.number <= stream.last)?;
        stream.detach();
        stream.attached = true;
        stream.read = after.number;
        Some(Reader::new(Arc::clone(self), stream.readers, after))
    }

    /// Whether someone reads this stream.
    pub(super) fn is_read(&self, id: u64) -> bool {
        self.lock()
            .streams
            .get(&id)
            .is_some_and(|stream| stream.attached)
    }

    /// Whether nothing more comes of a stream.
    pub(super) fn has_ended(&self, id: u64) -> bool {
        self.lock().streams.get(&id).is_none_or(|one| one.ended)
    }

    /// The newest event of a stream.
    pub(super) fn newest(&self, id: u64) -> EventId {
        let store = self.lock();
        EventId {
            stream: id,
            number: store.streams.get(&id).map_or(0, |stream| stream.last),
        }
    }

    /// Whether someone reads any stream.
    pub(super) fn are_read(&self) -> bool {
        self.lock().streams.values().any(|stream| stream.attached)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::limits::HttpLimits;

    #[test]
    fn streams_of_which_nothing_is_kept_are_forgotten() {
        let limits = Limits::default().http(HttpLimits::default().session_events(2));
        let events = Events::new(&limits);
        for _ in 0..10 {
            let stream = events.open();
            let reader = events.read(EventId::beginning(stream)).unwrap();
            events.end(stream);
            drop(reader);
        }
        assert_eq!(events.lock().streams.len(), 0);
        for _ in 0..10 {
            let stream = events.open();
            events.push(stream, vec![1, 2, 3], true);
        }
        let store = events.lock();
        assert_eq!((store.streams.len(), store.events, store.bytes), (2, 2, 6));
    }

    #[test]
    fn what_is_about_to_be_read_is_not_dropped_for_others() {
        let limits =
            Limits::default().http(HttpLimits::default().session_events(2).session_bytes(10));
        let mut context = Context::from_waker(Waker::noop());
        let events = Events::new(&limits);
        let streams: Vec<u64> = (0..8).map(|_| events.open()).collect();
        let mut readers: Vec<Reader> = streams
            .iter()
            .map(|stream| events.read(EventId::beginning(*stream)).unwrap())
            .collect();
        for stream in &streams {
            assert!(events.poll_room(*stream, &mut context).is_ready());
            events.push(*stream, vec![0; 8], false);
            // Whoever wants to send more waits, for there are more bytes than may be kept.
            assert_eq!(
                events.poll_room(*stream, &mut context).is_pending(),
                *stream > 1
            );
        }
        assert_eq!(events.lock().events, 8);
        for reader in &mut readers {
            assert!(reader.poll_next(&mut context).is_ready());
        }
        for stream in &streams {
            assert!(events.poll_room(*stream, &mut context).is_ready());
        }
        assert!(events.lock().bytes <= 10);
    }

    #[test]
    fn nothing_is_kept_of_a_stream_that_cannot_be_resumed() {
        let mut context = Context::from_waker(Waker::noop());
        let events = Events::new(&Limits::default());
        let stream = events.open();
        let reader = events.read(EventId::beginning(stream)).unwrap();
        let mut reader = reader.once();
        for _ in 0..10 {
            events.push(stream, vec![0; 8], false);
            assert!(reader.poll_next(&mut context).is_ready());
        }
        let store = events.lock();
        assert_eq!((store.events, store.bytes), (0, 0));
    }
}
