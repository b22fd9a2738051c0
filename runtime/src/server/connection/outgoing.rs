//! Messages to the peer that are not responses to its calls: those of calls in flight, and those of subscriptions.

use std::task::{self, Poll, ready};

use super::Connection;
use crate::cancelled_calls::CallNumber;
use crate::server::subscriptions::{Decision, Unreviewed};

impl Connection {
    /// Polls the next message to the peer that is not the response to a call: a message of a call in flight, or a notification
    /// of a subscription. A message of a call belongs before all responses that become ready later.
    ///
    /// When the server closes, the responses to subscription requests are returned here: first the result, then a cancellation
    /// notification. The latter is only for transports on which many requests share a stream.
    pub fn poll_outgoing(&mut self, context: &mut task::Context<'_>) -> Poll<Vec<u8>> {
        loop {
            match ready!(self.poll_unreviewed(context)) {
                Unreviewed::Message(message) => return Poll::Ready(message),
                Unreviewed::Change(review) => {
                    if let Some(message) = self.settle(&mut review.decide()) {
                        return Poll::Ready(message);
                    }
                }
            }
        }
    }

    /// Polls as [`Connection::poll_outgoing`] does, for owners with a lock: the caller runs a review, which may run the user's
    /// code, without it.
    #[doc(hidden)]
    pub fn poll_unreviewed(&mut self, context: &mut task::Context<'_>) -> Poll<Unreviewed> {
        let (server, subscriber) = (&self.server, &mut self.subscriber);
        if !self.calls_first {
            if let Poll::Ready(message) = subscriber.poll_next(server, context) {
                self.calls_first = true;
                return Poll::Ready(message);
            }
        }
        if let Poll::Ready(message) = self.outgoing.poll_next(context) {
            self.calls_first = false;
            return Poll::Ready(Unreviewed::Message(message));
        }
        if self.calls_first {
            return subscriber.poll_next(server, context);
        }
        Poll::Pending
    }

    /// Applies the decision of a review. Returns the message that it has allowed. Owners with a lock drop the decision without it.
    #[doc(hidden)]
    pub fn settle(&mut self, decision: &mut Decision) -> Option<Vec<u8>> {
        self.subscriber.settle(decision)
    }

    /// Returns the next message of a call in flight, if there is one now.
    pub fn next_outgoing(&mut self) -> Option<Vec<u8>> {
        self.outgoing.next()
    }

    /// Takes the messages of calls in flight that are queued now, among them all that a finished call has sent. Other calls may
    /// send further ones meanwhile, which stay in the queue.
    pub(crate) fn drain_outgoing(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.outgoing.drain()
    }

    /// Drops the messages of a call that the peer has cancelled, also those that its function still sends on another thread, until
    /// [`Connection::forget_call`]. The drop of a [`PendingResponse`](crate::PendingResponse) does so for those that are queued.
    pub(crate) fn cancel_call(&self, call: CallNumber) {
        self.outgoing.cancel_call(call);
    }

    /// Forgets a cancelled call that has ended, after its messages have been drained.
    pub(crate) fn forget_call(&self, call: CallNumber) {
        self.outgoing.forget_call(call);
    }

    /// Returns `true` if calls wait for responses of the peer, which arrive as messages.
    pub fn has_pending_requests(&self) -> bool {
        self.outbox.requests().has_pending()
    }

    /// Ends requests to the peer, pending and later ones, because no further response will be handled.
    pub(crate) fn close_requests(&self) {
        self.outbox.requests().close();
    }

    /// Returns `true` while a `subscriptions/listen` of the peer is open: not cancelled, and without its result.
    pub fn is_listening(&self) -> bool {
        self.subscriber.is_listening()
    }
}
