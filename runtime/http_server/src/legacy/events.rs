//! Event streams of one session. Events are stored until they are read, and longer for clients that reconnect.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treenail_runtime::Limits;

use crate::legacy::last_use::LastUse;
use crate::legacy::reader::Reader;
use crate::legacy::store::{EventId, Store, Stream, Wakers};

/// Streams of one session, shared by their readers and writers.
#[derive(Debug)]
pub(super) struct Events {
    store: Mutex<Store>,
    pub(super) last_use: Arc<LastUse>,
}

impl Events {
    pub(super) fn new(limits: &Limits, last_use: Arc<LastUse>) -> Arc<Self> {
        let store = Store::new(limits.http.session_events, limits.http.session_bytes);
        Arc::new(Self {
            store: Mutex::new(store),
            last_use,
        })
    }

    /// Opens a stream.
    pub(super) fn open(&self) -> u64 {
        self.lock().open()
    }

    /// Appends a message to a stream, unless the stream has ended.
    pub(super) fn push(&self, id: u64, message: Vec<u8>, last: bool) {
        let wakers = self.lock().push(id, message, last);
        wakers.wake();
    }

    /// Returns true if a stream has room for a message. Otherwise its reader has an event to read.
    pub(super) fn has_room(&self, id: u64) -> bool {
        self.lock().has_room(id)
    }

    /// Ends a stream without a further message.
    pub(super) fn end(&self, id: u64) {
        self.change(id, |stream| {
            stream.ended = true;
            stream.take_wakers()
        });
    }

    /// Removes a stream with its events.
    pub(super) fn remove(&self, id: u64) {
        let wakers = self.lock().remove(id);
        wakers.wake();
    }

    /// Detaches the reader of a stream. The stream continues without it.
    pub(super) fn detach(&self, id: u64) {
        self.change(id, |stream| {
            if stream.attached {
                self.last_use.touch();
            }
            stream.detach()
        });
    }

    /// Wakes the reader of a stream.
    pub(super) fn wake_reader(&self, id: u64) {
        self.change(id, Stream::take_reader);
    }

    /// Changes a stream, which may be finished then, and wakes the wakers that the change returns.
    pub(super) fn change(&self, id: u64, change: impl FnOnce(&mut Stream) -> Wakers) {
        let mut store = self.lock();
        let wakers = store.streams.get_mut(id).map(change);
        store.remove_if_finished(id);
        drop(store);
        wakers.unwrap_or_default().wake();
    }

    /// Attaches a reader to a stream after an event, and detaches the previous reader. If the events after it have been dropped,
    /// the reader is after those. `None` if the stream or the event does not exist.
    pub(super) fn read(self: &Arc<Self>, after: EventId) -> Option<Reader> {
        let mut store = self.lock();
        let stream = store.streams.get_mut(after.stream);
        let stream = stream.filter(|stream| after.number <= stream.last)?;
        let wakers = stream.detach();
        stream.attached = true;
        // Dropped events must not count as unread, because no reader would ever make room for the next ones.
        stream.read = after.number.max(stream.dropped());
        let after = EventId {
            number: stream.read,
            ..after
        };
        let generation = stream.reader_generation;
        drop(store);
        wakers.wake();
        Some(Reader::new(Arc::clone(self), generation, after))
    }

    /// Returns true if a reader is attached to the stream.
    pub(super) fn is_read(&self, id: u64) -> bool {
        self.lock()
            .streams
            .get(id)
            .is_some_and(|stream| stream.attached)
    }

    /// Returns true if the stream has ended or does not exist.
    pub(super) fn has_ended(&self, id: u64) -> bool {
        self.lock().streams.get(id).is_none_or(|one| one.ended)
    }

    /// Returns the id of the newest event of a stream.
    pub(super) fn newest(&self, id: u64) -> EventId {
        let store = self.lock();
        EventId {
            stream: id,
            number: store.streams.get(id).map_or(0, |stream| stream.last),
        }
    }

    /// Returns true if a reader is attached to any stream.
    pub(super) fn is_any_read(&self) -> bool {
        self.lock().streams.values().any(|stream| stream.attached)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::*;
    use crate::legacy::writer::Writer;
    use treenail_runtime::HttpLimits;

    /// Waker that uses the streams.
    struct User {
        events: Arc<Events>,
        woken: AtomicUsize,
    }

    impl User {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                events: Events::new(&Limits::default(), LastUse::now()),
                woken: AtomicUsize::new(0),
            })
        }
    }

    impl Wake for User {
        fn wake(self: Arc<Self>) {
            assert!(self.events.store.try_lock().is_ok(), "the lock is free");
            self.woken.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn wakers_may_use_the_streams() {
        let changes: [fn(&Arc<Events>, u64); 5] = [
            |events, stream| events.push(stream, vec![1], false),
            |events, stream| events.end(stream),
            |events, stream| events.remove(stream),
            |events, stream| events.detach(stream),
            |events, stream| events.wake_reader(stream),
        ];
        let user = User::new();
        let (events, waker) = (&user.events, Arc::clone(&user).into());
        let mut context = Context::from_waker(&waker);
        for (index, change) in changes.into_iter().enumerate() {
            let stream = events.open();
            let mut reader = events.read(EventId::stream_start(stream)).unwrap();
            assert!(reader.poll_next(&mut context).is_pending());
            change(events, stream);
            assert_eq!(user.woken.load(Ordering::Relaxed), index + 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_that_is_woken_may_use_the_streams() {
        let user = User::new();
        let (events, waker) = (&user.events, Arc::clone(&user).into());
        let mut context = Context::from_waker(&waker);
        let stream = events.open();
        let mut reader = events.read(EventId::stream_start(stream)).unwrap();
        while events.has_room(stream) {
            events.push(stream, vec![1], false);
        }
        let (mut message, mut writer) = (Some(vec![2]), Writer::new(events, stream));
        let mut write = pin!(writer.push(&mut message, false, std::time::Duration::MAX));
        assert!(write.as_mut().poll(&mut context).is_pending());
        assert!(reader.poll_next(&mut context).is_ready());
        assert_eq!(user.woken.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn finished_streams_without_events_are_removed() {
        let limits = Limits::default().http(HttpLimits::default().session_events(2));
        let events = Events::new(&limits, LastUse::now());
        for _ in 0..10 {
            let stream = events.open();
            let reader = events.read(EventId::stream_start(stream)).unwrap();
            events.end(stream);
            drop(reader);
        }
        assert_eq!(events.lock().streams.values().count(), 0);
        for _ in 0..10 {
            let stream = events.open();
            events.push(stream, vec![1, 2, 3], true);
        }
        let store = events.lock();
        assert_eq!(
            (store.streams.values().count(), store.events, store.bytes),
            (2, 2, 6)
        );
    }

    #[test]
    fn events_of_streams_that_were_read_are_dropped_first() {
        let limits = Limits::default().http(HttpLimits::default().session_events(3));
        let mut context = Context::from_waker(Waker::noop());
        let events = Events::new(&limits, LastUse::now());
        let (waiting, finished) = (events.open(), events.open());
        events.push(waiting, vec![1], false);
        events.push(finished, vec![2], true);
        let mut reader = events.read(EventId::stream_start(finished)).unwrap();
        assert!(reader.poll_next(&mut context).is_ready());
        drop(reader);
        for message in [3, 4] {
            events.push(waiting, vec![message], false);
        }
        let stored = |stream| {
            let store = events.lock();
            store.streams.get(stream).map(|stream| stream.events.len())
        };
        assert_eq!((stored(waiting), stored(finished)), (Some(3), None));
        events.push(waiting, vec![5], true);
        assert_eq!(stored(waiting), Some(3), "then the oldest are dropped");
    }

    #[test]
    fn events_with_an_attached_reader_are_not_dropped() {
        let limits =
            Limits::default().http(HttpLimits::default().session_events(2).session_bytes(10));
        let mut context = Context::from_waker(Waker::noop());
        let events = Events::new(&limits, LastUse::now());
        let streams: Vec<u64> = (0..8).map(|_| events.open()).collect();
        let mut readers: Vec<Reader> = streams
            .iter()
            .map(|stream| events.read(EventId::stream_start(*stream)).unwrap())
            .collect();
        for stream in &streams {
            assert!(events.has_room(*stream));
            events.push(*stream, vec![0; 8], false);
            // Further writers wait, because the stored bytes exceed the limit.
            assert_eq!(events.has_room(*stream), *stream == 1);
        }
        assert_eq!(events.lock().events, 8);
        for reader in &mut readers {
            assert!(reader.poll_next(&mut context).is_ready());
        }
        for stream in &streams {
            assert!(events.has_room(*stream));
        }
        assert!(events.lock().bytes <= 10);
    }

    #[test]
    fn events_of_a_non_resumable_stream_are_dropped_after_reading() {
        let mut context = Context::from_waker(Waker::noop());
        let events = Events::new(&Limits::default(), LastUse::now());
        let stream = events.open();
        let reader = events.read(EventId::stream_start(stream)).unwrap();
        let mut reader = reader.not_resumable();
        for _ in 0..10 {
            events.push(stream, vec![0; 8], false);
            assert!(reader.poll_next(&mut context).is_ready());
        }
        let store = events.lock();
        assert_eq!((store.events, store.bytes), (0, 0));
    }
}
