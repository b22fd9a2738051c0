//! Messages of a call that ends without a response.

use super::QueueSender;
use crate::cancelled_calls::CallNumber;

/// Guard of a call in flight. Unless the call has been answered, dropping it drops the messages of the call that are queued.
///
/// The function of the call must have been dropped before.
#[derive(Debug)]
pub(crate) struct UnansweredCall {
    pub(super) sender: QueueSender,
    answered: bool,
}

impl UnansweredCall {
    /// Makes the guard of the call that sends with `sender`.
    pub(crate) fn new(sender: QueueSender) -> Self {
        let answered = false;
        Self { sender, answered }
    }

    /// Returns the number of the call.
    pub(crate) fn number(&self) -> Option<CallNumber> {
        self.sender.call()
    }

    /// Retains the messages of the call, because its response follows them.
    pub(crate) fn set_answered(&mut self) {
        self.answered = true;
    }
}

impl Drop for UnansweredCall {
    fn drop(&mut self) {
        if !self.answered {
            self.sender.drop_messages();
        }
    }
}
