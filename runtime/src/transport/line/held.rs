//! Messages that begin calls for which there is no room yet.

use std::collections::VecDeque;

use treenail_schema::RequestId;

/// Messages in the order in which they came, within a number of bytes.
pub(super) struct Held {
    messages: VecDeque<Message>,
    bytes: usize,
    bound: usize,
}

pub(super) struct Message {
    id: Option<RequestId>,
    pub(super) text: Box<[u8]>,
}

impl Held {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            bytes: 0,
            bound,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether no further message should be read.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > self.bound
    }

    pub(super) fn push(&mut self, id: Option<RequestId>, text: &[u8]) {
        self.bytes += text.len();
        let text = text.into();
        self.messages.push_back(Message { id, text });
    }

    /// Takes the first one.
    pub(super) fn pop(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.text.len();
        Some(message)
    }

    /// Puts the first one back.
    pub(super) fn put_back(&mut self, message: Message) {
        self.bytes += message.text.len();
        self.messages.push_front(message);
    }

    /// Drops the message whose request has this id.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        let is_it = |message: &Message| message.id.as_ref() == Some(id);
        if let Some(message) = self.messages.iter().position(is_it) {
            if let Some(message) = self.messages.remove(message) {
                self.bytes -= message.text.len();
            }
        }
    }
}
