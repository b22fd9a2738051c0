//! Lines that a session has not written yet.

use std::mem;

use crate::client::line::message;
use crate::wire::RpcError;

#[derive(Default)]
pub(super) struct Output {
    /// Lines that the driver has not taken yet.
    pub(super) lines: Vec<u8>,
    /// Answers to requests of the server within them.
    answers: Answers,
    /// Bytes that the driver has taken and not written yet.
    being_written: usize,
    /// Answers within those bytes.
    answers_being_written: Answers,
}

/// Number and size of answers to requests of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl Output {
    /// Adds the answer to a request of the server, whose id is the JSON text `id`.
    pub(super) fn push_answer(&mut self, id: &str, answer: Result<String, RpcError>) {
        let before = self.lines.len();
        message::push_answer(&mut self.lines, id, answer);
        self.answers.count += 1;
        self.answers.bytes += self.lines.len() - before;
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.len() + self.being_written
    }

    /// Returns the answers that have not been written yet.
    pub(super) fn answers(&self) -> Answers {
        Answers {
            count: self.answers.count + self.answers_being_written.count,
            bytes: self.answers.bytes + self.answers_being_written.bytes,
        }
    }

    /// Replaces the buffer of written lines with the lines to write next. Returns true if there were written lines.
    pub(super) fn take(&mut self, written: &mut Vec<u8>) -> bool {
        written.clear();
        mem::swap(written, &mut self.lines);
        self.answers_being_written = mem::take(&mut self.answers);
        mem::replace(&mut self.being_written, written.len()) > 0
    }
}
