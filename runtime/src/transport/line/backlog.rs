//! Backlog of messages whose calls have to wait for capacity.

use std::collections::VecDeque;

use treenail_schema::RequestId;

/// Queue of deferred messages in the order of arrival, limited in bytes.
pub(super) struct Backlog {
    messages: VecDeque<DeferredMessage>,
    bytes: usize,
    max_bytes: usize,
}

pub(super) struct DeferredMessage {
    id: Option<RequestId>,
    pub(super) text: Box<[u8]>,
    /// Set if its calls could not be started.
    pub(super) blocked: Option<Blocked>,
}

/// Reason why the calls of a message could not be started.
#[derive(Clone, Copy)]
pub(super) struct Blocked {
    /// The number of its calls.
    pub(super) calls: usize,
    /// Other calls of the connection were running.
    pub(super) is_busy: bool,
}

impl Backlog {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            bytes: 0,
            max_bytes,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns true if no further message should be deferred.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > self.max_bytes
    }

    /// Returns true if a message may contain a response: only those of batches are deferred, because a batch may start calls too.
    pub(super) fn may_have_response(&self) -> bool {
        self.messages.iter().any(|message| message.id.is_none())
    }

    pub(super) fn push_back(&mut self, id: Option<RequestId>, text: &[u8]) {
        self.bytes += text.len();
        self.messages.push_back(DeferredMessage {
            id,
            text: text.into(),
            blocked: None,
        });
    }

    pub(super) fn front(&self) -> Option<&DeferredMessage> {
        self.messages.front()
    }

    /// Removes and returns the first message.
    pub(super) fn pop_front(&mut self) -> Option<DeferredMessage> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.text.len();
        Some(message)
    }

    /// Inserts a message at the front.
    pub(super) fn push_front(&mut self, message: DeferredMessage) {
        self.bytes += message.text.len();
        self.messages.push_front(message);
    }

    /// Removes the message of the last request with this id. Returns true if there was one.
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let is_cancelled = |message: &DeferredMessage| message.id.as_ref() == Some(id);
        let last = self.messages.iter().rposition(is_cancelled);
        let removed = last.and_then(|last| self.messages.remove(last));
        self.bytes -= removed.as_ref().map_or(0, |message| message.text.len());
        removed.is_some()
    }
}
