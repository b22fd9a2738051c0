//! The subscriptions of one connection, where the hub marks them and the connection empties them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::server::subscriptions::message::Told;
use crate::server::subscriptions::subscription::Subscription;
use crate::server::subscriptions::{Event, Kinds};

/// What one connection wants to hear of.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) subscriptions: Vec<Subscription>,
    /// The subscription that speaks next, so that none keeps the others waiting.
    turn: usize,
    /// The server ends all subscriptions.
    closing: bool,
    waker: Option<Waker>,
}

impl State {
    /// The subscription of the peer's legacy era; a new one wants `kinds`.
    pub(crate) fn legacy(&mut self, kinds: Kinds) -> &mut Subscription {
        let place = self.subscriptions.iter().position(|one| one.id().is_none());
        let place = place.unwrap_or_else(|| {
            self.subscriptions.push(Subscription::legacy(kinds));
            self.subscriptions.len() - 1
        });
        &mut self.subscriptions[place]
    }
}

impl Listener {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks what `event` says; returns who has to be woken for that.
    pub(crate) fn mark(&self, event: &Event) -> Option<Waker> {
        let mut state = self.lock();
        let mut new = false;
        for subscription in &mut state.subscriptions {
            new |= subscription.mark(event);
        }
        state.waker.take_if(|_| new)
    }

    /// Lets all subscriptions end; returns who has to be woken for that.
    pub(crate) fn close(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.closing = true;
        state.waker.take()
    }

    /// The next thing that a subscription tells, as `write` makes it of that and of the subscription's id.
    pub(crate) fn poll_next<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(Told, Option<&str>) -> T,
    ) -> Poll<T> {
        let mut state = self.lock();
        let count = state.subscriptions.len();
        for step in 0..count {
            let index = (state.turn + step) % count;
            let closing = state.closing;
            let subscription = &mut state.subscriptions[index];
            let Some(told) = subscription.next(closing) else {
                continue;
            };
            let message = write(told, subscription.id().map(|id| &*id.text));
            state.turn = index + 1;
            return Poll::Ready(message);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
