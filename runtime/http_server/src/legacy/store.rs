//! Bounded store for the events of one session's streams.

use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;

use bytes::Bytes;
use tokio::time::Instant;

use crate::legacy::numbered::Numbered;

/// Number of unread events from which an attached reader blocks the call of its stream.
const MAX_UNREAD_EVENTS: u64 = 16;

/// Id of an event: its stream, and its number in the stream, from 1. The number 0 is the start of the stream.
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
    /// Parses the id from the form in which `Display` writes it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (stream, number) = text.split_once('-')?;
        Some(Self {
            stream: stream.parse().ok()?,
            number: number.parse().ok()?,
        })
    }

    /// Returns the position before the first event of a stream.
    pub(super) fn stream_start(stream: u64) -> Self {
        Self { stream, number: 0 }
    }
}

/// Stored message of a stream.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) id: EventId,
    pub(super) message: Bytes,
    /// The stream ends with it.
    pub(super) last: bool,
}

/// Streams of a session with their stored events.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) streams: Numbered<Stream>,
    pub(super) events: usize,
    pub(super) bytes: usize,
    /// Limits on the events stored for clients that reconnect.
    max_events: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) events: VecDeque<Event>,
    /// Number of the last event.
    pub(super) last: u64,
    /// Number of the last event that was read.
    pub(super) read: u64,
    pub(super) ended: bool,
    pub(super) reader: Option<Waker>,
    /// Generation of the current reader. Readers of earlier generations are detached.
    pub(super) reader_generation: u64,
    pub(super) attached: bool,
    /// Writers that wait for room.
    pub(super) writers: Numbered<Waker>,
    /// Time since which writers have waited, if the reader has made no progress since.
    pub(super) stalled_since: Option<Instant>,
}

/// Wakers of a stream that are due. They are woken without the lock of the store, because they run other code.
#[derive(Debug, Default)]
#[must_use = "they have to be woken"]
pub(super) struct Wakers {
    reader: Option<Waker>,
    writers: Vec<Waker>,
}

impl Wakers {
    pub(super) fn wake(self) {
        self.reader
            .into_iter()
            .chain(self.writers)
            .for_each(Waker::wake);
    }
}

impl Stream {
    /// Returns the waker of the reader after a new event.
    pub(super) fn take_reader(&mut self) -> Wakers {
        Wakers {
            reader: self.reader.take(),
            writers: Vec::new(),
        }
    }

    /// Returns the wakers of the writers after progress of the reader, or at its end.
    pub(super) fn take_writers(&mut self) -> Wakers {
        self.stalled_since = None;
        Wakers {
            reader: None,
            writers: self.writers.take().collect(),
        }
    }

    /// Returns all wakers, at the end of the stream.
    pub(super) fn take_wakers(&mut self) -> Wakers {
        Wakers {
            reader: self.reader.take(),
            ..self.take_writers()
        }
    }

    /// Detaches the reader, which receives no further events.
    pub(super) fn detach(&mut self) -> Wakers {
        self.reader_generation += 1;
        self.attached = false;
        self.take_wakers()
    }

    /// Returns the number of the last event that was dropped.
    pub(super) fn dropped(&self) -> u64 {
        let first = self.events.front();
        first.map_or(self.last, |event| event.id.number - 1)
    }

    fn unread(&self) -> u64 {
        self.last - self.read
    }

    /// Returns true if the stream has ended, and a reader has read all of it.
    fn is_delivered(&self) -> bool {
        self.ended && self.unread() == 0
    }

    /// Returns true if the first event is needed only by a client that reconnects, and is not the newest one.
    fn has_droppable_event(&self, newest: Option<EventId>) -> bool {
        let Some(event) = self.events.front() else {
            return false;
        };
        let awaited = self.attached && event.id.number > self.read;
        !awaited && newest != Some(event.id)
    }
}

impl Store {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            max_events,
            max_bytes,
            ..Self::default()
        }
    }

    pub(super) fn open(&mut self) -> u64 {
        self.streams.insert(Stream::default())
    }

    /// Appends a message to a stream, unless the stream has ended.
    pub(super) fn push(&mut self, id: u64, message: Vec<u8>, last: bool) -> Wakers {
        let length = message.len();
        let Some(stream) = self.streams.get_mut(id).filter(|stream| !stream.ended) else {
            return Wakers::default();
        };
        stream.last += 1;
        stream.ended = last;
        let id = EventId {
            stream: id,
            number: stream.last,
        };
        stream.events.push_back(Event {
            id,
            message: exact(message),
            last,
        });
        let wakers = stream.take_reader();
        self.events += 1;
        self.bytes += length;
        self.drop_oldest(Some(id));
        wakers
    }

    /// Returns true if a stream has room for a message.
    ///
    /// An attached reader must have read enough of the stream. A stream without a reader always has room, because its oldest
    /// events are dropped.
    pub(super) fn has_room(&mut self, id: u64) -> bool {
        self.drop_oldest(None);
        // The remaining events have attached readers.
        let is_full = self.bytes > self.max_bytes || self.events > self.max_events;
        let Some(stream) = self.streams.get(id) else {
            return true;
        };
        let unread = stream.unread();
        let has_reader = stream.attached && !stream.ended;
        !has_reader || unread == 0 || (unread < MAX_UNREAD_EVENTS && !is_full)
    }

    /// Drops the oldest events of the oldest streams until the limits are met, except the newest event and those with an
    /// attached reader. Streams that were read to their end are first, because the client may still need the events of others.
    fn drop_oldest(&mut self, newest: Option<EventId>) {
        while self.events > 1 && (self.events > self.max_events || self.bytes > self.max_bytes) {
            let streams = self.streams.iter();
            let droppable = streams.filter(|(_, stream)| stream.has_droppable_event(newest));
            let Some((id, _)) = droppable.min_by_key(|(_, stream)| !stream.is_delivered()) else {
                return;
            };
            let stream = self.streams.get_mut(id);
            let event = stream.and_then(|stream| stream.events.pop_front());
            self.count_dropped(event);
            self.remove_if_finished(id);
        }
    }

    /// Subtracts a dropped event from the totals.
    pub(super) fn count_dropped(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            self.events -= 1;
            self.bytes -= event.message.len();
        }
    }

    /// Removes a stream that has ended, without stored events and without a reader.
    pub(super) fn remove_if_finished(&mut self, id: u64) {
        let stream = self.streams.get(id);
        if stream.is_some_and(|one| one.ended && one.events.is_empty() && !one.attached) {
            self.streams.remove(id);
        }
    }

    pub(super) fn remove(&mut self, stream: u64) -> Wakers {
        let Some(mut stream) = self.streams.remove(stream) else {
            return Wakers::default();
        };
        for event in stream.events.drain(..) {
            self.count_dropped(Some(event));
        }
        stream.take_wakers()
    }
}

/// Returns a message without the unused capacity of its buffer. Events may be stored for long, and the limit counts their length.
fn exact(mut message: Vec<u8>) -> Bytes {
    // From about this size, an allocator returns the unused pages. In smaller buffers it would leave gaps, which fit no other message.
    const MIN_SHRUNK: usize = 128 << 10;
    if message.len() >= MIN_SHRUNK || message.len() == message.capacity() {
        message.shrink_to_fit();
        return message.into();
    }
    Bytes::copy_from_slice(&message)
}
