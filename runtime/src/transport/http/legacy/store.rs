//! What is kept of the streams of one session, within its bounds.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Unread events of a stream that hold back its call while someone reads.
const UNREAD: u64 = 16;

/// The name of an event: its stream, and its number there from 1 on. 0 stands for the beginning of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
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

    /// Stands before all events of a stream.
    pub(super) fn beginning(stream: u64) -> Self {
        Self { stream, number: 0 }
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

/// All streams of a session.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) streams: BTreeMap<u64, Stream>,
    last_stream: u64,
    pub(super) events: usize,
    pub(super) bytes: usize,
    /// How many events, and how many bytes of them, are kept for those who come back.
    most: usize,
    most_bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) events: VecDeque<Event>,
    /// The number of the last event.
    pub(super) last: u64,
    /// The number of the last event that was read.
    pub(super) read: u64,
    pub(super) ended: bool,
    pub(super) reader: Option<Waker>,
    /// Counts those who have read, so that an earlier one does not take the place of a later one.
    pub(super) readers: u64,
    pub(super) attached: bool,
    writers: Vec<Waker>,
}

impl Stream {
    pub(super) fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    pub(super) fn wake_writers(&mut self) {
        for waker in self.writers.drain(..) {
            waker.wake();
        }
    }

    /// Who reads it gets nothing more.
    pub(super) fn detach(&mut self) {
        self.readers += 1;
        self.attached = false;
        self.wake_reader();
        self.wake_writers();
    }

    fn unread(&self) -> u64 {
        self.last - self.read
    }

    /// Whether its first event is of use only to those who come back.
    fn has_leftovers(&self, newest: Option<EventId>) -> bool {
        let Some(event) = self.events.front() else {
            return false;
        };
        let awaited = self.attached && event.id.number > self.read;
        !awaited && newest != Some(event.id)
    }
}

impl Store {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            most,
            most_bytes,
            ..Self::default()
        }
    }

    pub(super) fn open(&mut self) -> u64 {
        self.last_stream += 1;
        self.streams.insert(self.last_stream, Stream::default());
        self.last_stream
    }

    /// Adds a message to a stream, unless that has ended.
    pub(super) fn push(&mut self, id: u64, message: Vec<u8>, last: bool) {
        let length = message.len();
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| !stream.ended) else {
            return;
        };
        stream.last += 1;
        stream.ended = last;
        let id = EventId {
            stream: id,
            number: stream.last,
        };
        stream.events.push_back(Event {
            id,
            message: message.into(),
            last,
        });
        stream.wake_reader();
        self.events += 1;
        self.bytes += length;
        self.shrink(Some(id));
    }

    /// Whether a stream can take a message: whoever reads it has come far enough. Without a reader it takes all, and the
    /// oldest are dropped. If it cannot, the writer hears of it when it can.
    pub(super) fn has_room(&mut self, id: u64, context: &mut Context<'_>) -> bool {
        self.shrink(None);
        // What is left are events that someone is about to read.
        let full = self.bytes > self.most_bytes || self.events > self.most;
        let Some(stream) = self.streams.get_mut(&id) else {
            return true;
        };
        let unread = stream.unread();
        let waits = stream.attached && !stream.ended;
        if !waits || unread == 0 || (unread < UNREAD && !full) {
            return true;
        }
        let waker = context.waker();
        if !stream.writers.iter().any(|known| known.will_wake(waker)) {
            stream.writers.push(waker.clone());
        }
        false
    }

    /// Drops the oldest events of the oldest streams until no more are kept than may be, but never the newest one, nor any
    /// that someone is about to read.
    fn shrink(&mut self, newest: Option<EventId>) {
        while self.events > 1 && (self.events > self.most || self.bytes > self.most_bytes) {
            let oldest = self.streams.iter_mut();
            let Some((id, stream)) = oldest
                .into_iter()
                .find(|(_, stream)| stream.has_leftovers(newest))
            else {
                return;
            };
            let (id, event) = (*id, stream.events.pop_front());
            self.dropped(event);
            self.tidy(id);
        }
    }

    /// Counts an event that is kept no longer.
    pub(super) fn dropped(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            self.events -= 1;
            self.bytes -= event.message.len();
        }
    }

    /// Forgets a stream that has ended if nothing is kept of it.
    pub(super) fn tidy(&mut self, id: u64) {
        let stream = self.streams.get(&id);
        if stream.is_some_and(|one| one.ended && one.events.is_empty() && !one.attached) {
            self.streams.remove(&id);
        }
    }

    pub(super) fn remove(&mut self, stream: u64) {
        let Some(mut stream) = self.streams.remove(&stream) else {
            return;
        };
        stream.wake_reader();
        stream.wake_writers();
        for event in stream.events.drain(..) {
            self.dropped(Some(event));
        }
    }
}
