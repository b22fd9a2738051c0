//! Bounded queue of messages that is allocated when it is used for the first time.
//!
//! Most calls send no message, and idle sessions have none, so they need no buffer. Each message has the number of its call, so
//! that the messages of a cancelled call can be dropped.

mod queued_calls;
#[cfg(test)]
mod tests;
mod unanswered;

use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, Permit, Receiver, Sender};

use self::queued_calls::QueuedCalls;
pub(crate) use self::unanswered::UnansweredCall;
use crate::cancelled_calls::{CallNumber, CancelledCalls};

/// Sending end of a queue. Senders wait while the queue is full.
#[derive(Clone, Debug)]
pub(crate) struct QueueSender {
    queue: Arc<Queue>,
    /// The call that sends, if it is one.
    call: Option<CallNumber>,
}

/// Room for one message in a queue.
pub(crate) struct QueuePermit<'a> {
    permit: Permit<'a, QueuedMessage>,
    /// The sender.
    sender: &'a QueueSender,
}

#[derive(Debug)]
struct QueuedMessage {
    text: Vec<u8>,
    call: Option<CallNumber>,
}

/// Receiving end of a queue. Dropping it closes the queue.
#[derive(Debug)]
pub(crate) struct QueueReceiver {
    queue: Arc<Queue>,
    /// Taken from the queue when it has been allocated.
    receiver: Option<Receiver<QueuedMessage>>,
}

#[derive(Debug)]
struct Queue {
    capacity: usize,
    sender: OnceLock<Sender<QueuedMessage>>,
    receiver: Mutex<Slot>,
    calls: QueuedCalls,
    cancelled: CancelledCalls,
}

/// Receiver of an allocated queue.
#[derive(Debug)]
enum Slot {
    /// Not allocated yet, or taken by the receiving end.
    Empty,
    /// Not allocated yet, and the receiving end waits for a message.
    Awaited(Waker),
    Ready(Receiver<QueuedMessage>),
    /// The receiving end has been dropped.
    Closed,
}

/// Makes a queue for at most `capacity` messages, at least one, within the range of the channel.
pub(crate) fn queue(capacity: usize) -> (QueueSender, QueueReceiver) {
    let queue = Arc::new(Queue {
        capacity: capacity.clamp(1, Semaphore::MAX_PERMITS),
        sender: OnceLock::new(),
        receiver: Mutex::new(Slot::Empty),
        calls: QueuedCalls::default(),
        cancelled: CancelledCalls::default(),
    });
    let sender = QueueSender {
        queue: Arc::clone(&queue),
        call: None,
    };
    let receiver = None;
    (sender, QueueReceiver { queue, receiver })
}

impl Queue {
    fn sender(&self) -> &Sender<QueuedMessage> {
        let mut waiting = None;
        let sender = self.sender.get_or_init(|| {
            let (sender, receiver) = mpsc::channel(self.capacity);
            let mut slot = self.slot();
            if !matches!(*slot, Slot::Closed) {
                waiting = Some(replace(&mut *slot, Slot::Ready(receiver)));
            }
            sender
        });
        if let Some(Slot::Awaited(waker)) = waiting {
            waker.wake();
        }
        sender
    }

    /// Counts a message as received. Returns its text, unless its call has been cancelled or dropped.
    #[inline]
    fn receive(&self, QueuedMessage { text, call }: QueuedMessage) -> Option<Vec<u8>> {
        let dropped = call.is_some_and(|call| self.calls.remove_message(call));
        (!dropped && !self.cancelled.contains(call)).then_some(text)
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueSender {
    /// Reserves room for one message; `None` if the queue is closed.
    pub(crate) async fn reserve(&self) -> Option<QueuePermit<'_>> {
        let permit = self.queue.sender().reserve().await.ok()?;
        let sender = self;
        Some(QueuePermit { permit, sender })
    }

    /// Sends a message of no call. Returns `false` if the queue is full or closed.
    pub(crate) fn try_send(&self, text: Vec<u8>) -> bool {
        let message = QueuedMessage { text, call: None };
        self.queue.sender().try_send(message).is_ok()
    }

    /// Waits until the queue is closed.
    pub(crate) async fn closed(&self) {
        self.queue.sender().closed().await;
    }

    /// Makes the next call of the connection the sender.
    #[inline]
    pub(crate) fn start_call(&mut self) {
        self.call = Some(CallNumber::after(self.call));
    }

    /// Returns a sender of messages that belong to no call.
    pub(crate) fn of_no_call(mut self) -> Self {
        self.call = None;
        self
    }

    pub(crate) fn call(&self) -> Option<CallNumber> {
        self.call
    }

    /// Returns `true` if the call that sends has been cancelled.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.queue.cancelled.contains(self.call)
    }

    /// Drops the queued messages of the call that sends. It sends no further ones.
    fn drop_messages(&self) {
        let (Some(call), Some(sender)) = (self.call, self.queue.sender.get()) else {
            return;
        };
        // An empty queue needs no lock.
        if sender.capacity() < sender.max_capacity() {
            self.queue.calls.drop_messages(call);
        }
    }
}

impl QueuePermit<'_> {
    /// Sends a message, which is dropped if its call is cancelled before it is received.
    pub(crate) fn send(self, text: Vec<u8>) {
        let QueueSender { queue, call } = self.sender;
        if let Some(call) = *call {
            queue.calls.add_message(call);
        }
        let call = *call;
        self.permit.send(QueuedMessage { text, call });
    }

    /// Sends a message that is received in any case.
    pub(crate) fn send_always(self, text: Vec<u8>) {
        self.permit.send(QueuedMessage { text, call: None });
    }
}

impl QueueReceiver {
    /// Returns the next message, if there is one now.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.receiver.is_none() {
            // A queue without a sender has no message.
            self.queue.sender.get()?;
        }
        loop {
            let message = self.receiver(None)?.try_recv().ok()?;
            if let Some(text) = self.queue.receive(message) {
                return Some(text);
            }
        }
    }

    /// Drops the messages of a call, those in the queue and later ones, until [`QueueReceiver::forget_call`].
    pub(crate) fn cancel_call(&self, call: CallNumber) {
        self.queue.cancelled.insert(call);
    }

    /// Forgets a cancelled call, which has ended. No message of it is in the queue.
    pub(crate) fn forget_call(&self, call: CallNumber) {
        self.queue.cancelled.remove(call);
    }

    /// Takes the messages that are in the queue now. Those that are sent meanwhile stay, so a sender without pause does not prolong it.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Vec<u8>> {
        let queued = self.len();
        (0..queued).map_while(|_| self.next())
    }

    fn len(&mut self) -> usize {
        if self.receiver.is_none() && self.queue.sender.get().is_none() {
            return 0;
        }
        self.receiver(None).map_or(0, |receiver| receiver.len())
    }

    /// Polls the next message. The queue never ends.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Vec<u8>> {
        loop {
            let receiver = self.receiver(Some(context.waker()));
            let polled = receiver.map(|receiver| receiver.poll_recv(context));
            let Some(Poll::Ready(Some(message))) = polled else {
                return Poll::Pending;
            };
            if let Some(text) = self.queue.receive(message) {
                return Poll::Ready(text);
            }
        }
    }

    /// Returns the receiver of the allocated queue. Otherwise the allocation wakes `waker`.
    #[inline]
    fn receiver(&mut self, waker: Option<&Waker>) -> Option<&mut Receiver<QueuedMessage>> {
        if self.receiver.is_none() {
            let mut slot = self.queue.slot();
            let old = replace(&mut *slot, Slot::Empty);
            if let Slot::Ready(receiver) = old {
                self.receiver = Some(receiver);
            } else {
                *slot = waker.map_or(Slot::Empty, |waker| Slot::Awaited(waker.clone()));
                // Dropping a waker may drop its task, so the lock is released first.
                drop(slot);
                drop(old);
            }
        }
        self.receiver.as_mut()
    }
}

impl Drop for QueueReceiver {
    fn drop(&mut self) {
        // Without a sender, there is nothing to close.
        if self.receiver.is_none() && Arc::get_mut(&mut self.queue).is_none() {
            let slot = replace(&mut *self.queue.slot(), Slot::Closed);
            drop(slot);
        }
    }
}
