//! Bounded queue of messages that is allocated when it is used for the first time.
//!
//! Most calls send no message, and idle sessions have none, so they need no buffer.

use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, Permit, Receiver, Sender};

/// Sending end of a queue. Senders wait while the queue is full.
#[derive(Clone, Debug)]
pub(crate) struct QueueSender(Arc<Queue>);

/// Receiving end of a queue. Dropping it closes the queue.
#[derive(Debug)]
pub(crate) struct QueueReceiver {
    queue: Arc<Queue>,
    /// Taken from the queue when it has been allocated.
    receiver: Option<Receiver<Vec<u8>>>,
}

#[derive(Debug)]
struct Queue {
    capacity: usize,
    sender: OnceLock<Sender<Vec<u8>>>,
    receiver: Mutex<Slot>,
}

/// Receiver of an allocated queue.
#[derive(Debug)]
enum Slot {
    /// Not allocated yet, or taken by the receiving end.
    Empty,
    /// Not allocated yet, and the receiving end waits for a message.
    Awaited(Waker),
    Ready(Receiver<Vec<u8>>),
    /// The receiving end has been dropped.
    Closed,
}

/// Makes a queue for at most `capacity` messages, at least one, within the range of the channel.
pub(crate) fn queue(capacity: usize) -> (QueueSender, QueueReceiver) {
    let queue = Arc::new(Queue {
        capacity: capacity.clamp(1, Semaphore::MAX_PERMITS),
        sender: OnceLock::new(),
        receiver: Mutex::new(Slot::Empty),
    });
    let sender = QueueSender(Arc::clone(&queue));
    let receiver = None;
    (sender, QueueReceiver { queue, receiver })
}

impl Queue {
    fn sender(&self) -> &Sender<Vec<u8>> {
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

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueSender {
    /// Reserves room for one message; `None` if the queue is closed.
    pub(crate) async fn reserve(&self) -> Option<Permit<'_, Vec<u8>>> {
        self.0.sender().reserve().await.ok()
    }

    /// Sends a message. Returns `false` if the queue is full or closed.
    pub(crate) fn try_send(&self, message: Vec<u8>) -> bool {
        self.0.sender().try_send(message).is_ok()
    }

    /// Waits until the queue is closed.
    pub(crate) async fn closed(&self) {
        self.0.sender().closed().await;
    }
}

impl QueueReceiver {
    /// Returns the next message, if there is one now.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.receiver.is_none() {
            // A queue without a sender has no message.
            self.queue.sender.get()?;
        }
        self.receiver(None)?.try_recv().ok()
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
        let receiver = self.receiver(Some(context.waker()));
        match receiver.map(|receiver| receiver.poll_recv(context)) {
            Some(Poll::Ready(Some(message))) => Poll::Ready(message),
            _ => Poll::Pending,
        }
    }

    /// Returns the receiver of the allocated queue. Otherwise the allocation wakes `waker`.
    #[inline]
    fn receiver(&mut self, waker: Option<&Waker>) -> Option<&mut Receiver<Vec<u8>>> {
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn messages_are_received_in_order() {
        let (sender, mut receiver) = queue(2);
        assert_eq!(receiver.next(), None);
        assert!(sender.0.sender.get().is_none(), "it is not allocated yet");
        assert!(sender.try_send(vec![1]) && sender.try_send(vec![2]));
        assert!(!sender.try_send(vec![3]), "it is full");
        assert_eq!(receiver.next(), Some(vec![1]));
        assert_eq!(poll_fn(|context| receiver.poll_next(context)).await, [2]);
    }

    #[test]
    fn a_drain_ends_although_each_message_is_replaced() {
        let (sender, mut receiver) = queue(3);
        assert_eq!(receiver.drain().count(), 0);
        assert!(sender.0.sender.get().is_none(), "it is not allocated yet");
        for message in 0..3 {
            assert!(sender.try_send(vec![message]));
        }
        let mut drained = Vec::new();
        for message in receiver.drain().take(100) {
            assert!(sender.try_send(vec![message[0] + 3]));
            drained.push(message[0]);
        }
        assert_eq!(drained, [0, 1, 2]);
        assert_eq!(receiver.next(), Some(vec![3]), "the others are next");
    }

    #[tokio::test]
    async fn a_receiver_that_waits_first_is_woken() {
        let (sender, mut receiver) = queue(1);
        let task = tokio::spawn(async move {
            let message = poll_fn(|context| receiver.poll_next(context)).await;
            (message, receiver)
        });
        tokio::task::yield_now().await;
        assert!(sender.0.sender.get().is_none(), "it is not allocated yet");
        sender.reserve().await.unwrap().send(vec![7]);
        let (message, receiver) = task.await.unwrap();
        assert_eq!(message, [7]);
        drop(receiver);
        assert!(sender.reserve().await.is_none());
    }

    #[tokio::test]
    async fn a_queue_closes_with_its_receiver() {
        let mut context = Context::from_waker(Waker::noop());
        // Before it is allocated, when it is allocated, and when its receiver has been used.
        for step in 0..3 {
            let (sender, mut receiver) = queue(1);
            if step == 1 {
                assert!(sender.try_send(vec![1]));
            }
            if step == 2 {
                assert!(receiver.poll_next(&mut context).is_pending());
            }
            drop(receiver);
            sender.closed().await;
            assert!(!sender.try_send(vec![2]), "{step}");
            assert!(sender.reserve().await.is_none(), "{step}");
        }
    }
}
