//! The streams of one session: events that are kept until they are read, and a while longer for clients that come back.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::limits::Limits;

/// Unread events of a stream that hold back its call while someone reads.
const UNREAD: u64 = 16;

/// The name of an event: its stream, and its number there from 1 on. 0 stands for the beginning of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(super) stream: u64,
    pub(super) number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.stream, self.number)
    }
}

impl EventId {
    /// Reads what was written before.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (stream, number) = text.split_once('-')?;
        Some(Self {
            stream: stream.parse().ok()?,
            number: number.parse().ok()?,
        })
    }
}

/// A message of a stream.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) id: EventId,
    pub(super) message: Arc<[u8]>,
    /// Nothing follows it.
    pub(super) last: bool,
}

/// All streams of one session.
#[derive(Debug)]
pub(super) struct Events {
    most: usize,
    most_bytes: usize,
    store: Mutex<Store>,
}

#[derive(Debug, Default)]
struct Store {
    streams: BTreeMap<u64, Stream>,
    last_stream: u64,
    events: usize,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Stream {
    events: VecDeque<Event>,
    /// The number of the last event.
    last: u64,
    /// The number of the last event that was read.
    read: u64,
    ended: bool,
    reader: Option<Waker>,
    /// Counts those who have read, so that an earlier one does not take the place of a later one.
    readers: u64,
    attached: bool,
    writer: Option<Waker>,
}

impl Stream {
    fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    fn wake_writer(&mut self) {
        if let Some(waker) = self.writer.take() {
            waker.wake();
        }
    }
}

impl Store {
    /// Drops the oldest events of the oldest streams until no more are kept than may be, but never the newest one.
    fn shrink(&mut self, most: usize, most_bytes: usize) {
        while self.events > 1 && (self.events > most || self.bytes > most_bytes) {
            let oldest = self.streams.iter_mut();
            let Some((id, stream)) = oldest.into_iter().find(|(_, one)| !one.events.is_empty())
            else {
                return;
            };
            if let Some(event) = stream.events.pop_front() {
                self.events -= 1;
                self.bytes -= event.message.len();
            }
            let id = *id;
            self.tidy(id);
        }
    }

    /// Forgets a stream that has ended if nothing is kept of it.
    fn tidy(&mut self, id: u64) {
        let stream = self.streams.get(&id);
        if stream.is_some_and(|one| one.ended && one.events.is_empty() && !one.attached) {
            self.streams.remove(&id);
        }
    }

    fn remove(&mut self, stream: u64) {
        if let Some(mut stream) = self.streams.remove(&stream) {
            self.events -= stream.events.len();
            self.bytes -= stream
                .events
                .iter()
                .map(|event| event.message.len())
                .sum::<usize>();
            stream.wake_reader();
            stream.wake_writer();
        }
    }
}

impl Events {
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            most: limits.http_session_events,
            most_bytes: limits.http_session_bytes,
            store: Mutex::default(),
        })
    }

    /// Begins a stream.
    pub(super) fn open(&self) -> u64 {
        let mut store = self.lock();
        store.last_stream += 1;
        let id = store.last_stream;
        store.streams.insert(id, Stream::default());
        id
    }

    /// Adds a message to a stream, unless that has ended.
    pub(super) fn push(&self, id: u64, message: Vec<u8>, last: bool) {
        let mut store = self.lock();
        let length = message.len();
        let Some(stream) = store.streams.get_mut(&id).filter(|stream| !stream.ended) else {
            return;
        };
        stream.last += 1;
        stream.ended = last;
        let number = stream.last;
        stream.events.push_back(Event {
            id: EventId { stream: id, number },
            message: message.into(),
            last,
        });
        stream.wake_reader();
        store.events += 1;
        store.bytes += length;
        store.shrink(self.most, self.most_bytes);
    }

    /// Ends a stream without a further message.
    pub(super) fn end(&self, id: u64) {
        let mut store = self.lock();
        if let Some(stream) = store.streams.get_mut(&id) {
            stream.ended = true;
            stream.wake_reader();
            stream.wake_writer();
        }
        store.tidy(id);
    }

    /// Forgets a stream.
    pub(super) fn forget(&self, id: u64) {
        self.lock().remove(id);
    }

    /// Waits until a stream can take a message: whoever reads it has come far enough. Without a reader it takes all, and
    /// the oldest are dropped.
    pub(super) fn poll_room(&self, id: u64, context: &mut Context<'_>) -> Poll<()> {
        let mut store = self.lock();
        match store.streams.get_mut(&id) {
            Some(stream) if stream.attached && stream.last - stream.read >= UNREAD => {
                stream.writer = Some(context.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// Begins to read a stream after an event; whoever has read it before gets nothing more. `None` if there is no such
    /// stream any more, or has been no such event.
    pub(super) fn read(self: &Arc<Self>, after: EventId) -> Option<Reader> {
        let mut store = self.lock();
        let stream = store.streams.get_mut(&after.stream);
        let stream = stream.filter(|stream| after.number <= stream.last)?;
        stream.wake_reader();
        stream.attached = true;
        stream.readers += 1;
        stream.read = after.number;
        Some(Reader {
            number: stream.readers,
            events: Arc::clone(self),
            after,
            over: false,
        })
    }

    /// Whether someone reads this stream.
    pub(super) fn is_read(&self, id: u64) -> bool {
        self.lock()
            .streams
            .get(&id)
            .is_some_and(|stream| stream.attached)
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

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Someone who reads a stream.
#[derive(Debug)]
pub(super) struct Reader {
    events: Arc<Events>,
    number: u64,
    after: EventId,
    over: bool,
}

impl Reader {
    pub(super) fn after(&self) -> EventId {
        self.after
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
            stream.wake_writer();
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
                stream.wake_writer();
            }
        }
        store.tidy(self.after.stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_which_nothing_is_kept_are_forgotten() {
        let limits = Limits {
            http_session_events: 2,
            ..Limits::default()
        };
        let events = Events::new(&limits);
        for _ in 0..10 {
            let stream = events.open();
            let reader = events.read(EventId { stream, number: 0 }).unwrap();
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
}
