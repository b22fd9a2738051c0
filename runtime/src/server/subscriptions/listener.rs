//! Subscriptions of one connection: the hub marks changes in them, and the connection takes them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::extension::Publication;
use crate::server::subscriptions::history::{Decision, EditedLists, OpaqueSnapshot};
use crate::server::subscriptions::message::SubscriptionMessage;
use crate::server::subscriptions::subscription::Subscription;
use crate::server::subscriptions::{Event, Kinds};

/// Subscriptions of one connection, shared by the hub and the connection.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
    /// The number of URIs and topics when the peer last changed its subscriptions, so that events for others need no lock.
    interests: AtomicUsize,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) subscriptions: Vec<Subscription>,
    /// The index of the next subscription to send, for fairness (round robin).
    next: usize,
    /// Set when the server ends all subscriptions.
    closing: bool,
    waker: Option<Waker>,
}

impl State {
    /// Returns the snapshots that may differ from the current one for the caller of some subscription.
    fn start_review(&mut self) -> Vec<OpaqueSnapshot> {
        let mut all = Vec::new();
        for subscription in &mut self.subscriptions {
            subscription.start_review(&mut all);
        }
        all
    }

    /// Ends a review: marks the lists that have changed.
    pub(super) fn settle(&mut self, decision: &Decision) {
        for subscription in &mut self.subscriptions {
            subscription.settle(decision);
        }
    }

    /// Removes the subscriptions for which `is_removed` returns true. The caller drops them after the lock is released, because
    /// the handlers of entries in their snapshots may run the user's code.
    pub(super) fn take(&mut self, is_removed: impl Fn(&Subscription) -> bool) -> Vec<Subscription> {
        if !self.subscriptions.iter().any(&is_removed) {
            return Vec::new();
        }
        let all = std::mem::take(&mut self.subscriptions).into_iter();
        let (removed, rest) = all.partition(is_removed);
        self.subscriptions = rest;
        removed
    }

    /// Returns the number of URIs and topics.
    fn interests(&self) -> usize {
        let all = self.subscriptions.iter();
        all.map(|one| one.uris().count() + one.topics().count())
            .sum()
    }

    /// Returns the subscription of a legacy peer. A new one includes `kinds`.
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

    /// Changes the subscriptions. Also returns `true` if the number of URIs or topics has changed.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> (T, bool) {
        let mut state = self.lock();
        let before = state.interests();
        let changed = change(&mut state);
        let after = state.interests();
        self.interests.store(after, Ordering::Release);
        (changed, before != after)
    }

    /// Returns `true` if a subscription has URIs or topics, and perhaps if it had some.
    pub(crate) fn has_interests(&self) -> bool {
        self.interests.load(Ordering::Acquire) > 0
    }

    /// Marks the change of `event`. Returns the waker of the connection if it has something new to send.
    pub(crate) fn mark(&self, event: &Event) -> Option<Waker> {
        if matches!(event, Event::ResourceUpdated(_)) && !self.has_interests() {
            return None;
        }
        let mut state = self.lock();
        let mut new = false;
        for subscription in &mut state.subscriptions {
            new |= subscription.mark(event);
        }
        state.waker.take_if(|_| new)
    }

    /// Marks a message of an extension. Returns the waker as [`Listener::mark`] does.
    #[inline]
    pub(crate) fn publish(&self, publication: &Arc<Publication>) -> Option<Waker> {
        if !self.has_interests() {
            return None;
        }
        let mut state = self.lock();
        let mut new = false;
        for subscription in &mut state.subscriptions {
            new |= subscription.publish(publication);
        }
        state.waker.take_if(|_| new)
    }

    /// Marks edited lists. Returns the waker as [`Listener::mark`] does.
    #[inline]
    pub(crate) fn edited(
        &self,
        edit: &EditedLists<'_>,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> Option<Waker> {
        let mut state = self.lock();
        let mut new = false;
        for subscription in &mut state.subscriptions {
            new |= subscription.edited(edit, removed);
        }
        state.waker.take_if(|_| new)
    }

    /// Ends all subscriptions. Returns the waker of the connection.
    pub(crate) fn close(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.closing = true;
        state.waker.take()
    }

    /// Polls the next message of a subscription. `write` makes the result of it and of the subscription's id. The error is a list
    /// of snapshots, which have to be compared with the current one first, for [`State::settle`].
    pub(crate) fn poll_next<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(SubscriptionMessage, Option<&str>) -> T,
    ) -> Poll<Result<T, Vec<OpaqueSnapshot>>> {
        let mut state = self.lock();
        let snapshots = state.start_review();
        if !snapshots.is_empty() {
            return Poll::Ready(Err(snapshots));
        }
        let count = state.subscriptions.len();
        for step in 0..count {
            let index = (state.next + step) % count;
            let closing = state.closing;
            let subscription = &mut state.subscriptions[index];
            let Some(message) = subscription.next(closing) else {
                continue;
            };
            let written = write(message, subscription.id().map(|id| &*id.text));
            state.next = index + 1;
            return Poll::Ready(Ok(written));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
