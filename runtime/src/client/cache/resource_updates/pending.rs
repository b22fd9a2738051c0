//! Updates of resources that the reader of a stream has not taken yet.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::client::cooperative::poll_within_budget;
use crate::client::{ClientError, ClientLimits};

/// URIs of updated resources, each at most once, and the end of the stream.
#[derive(Debug)]
pub(super) struct PendingUpdates {
    /// The subscribed resources, in order.
    uris: Vec<Arc<str>>,
    state: Mutex<State>,
    /// Maximum number of URIs that are not subscribed ones, such as those of sub-resources.
    max_others: usize,
    /// Maximum number of their bytes.
    max_other_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    order: VecDeque<Arc<str>>,
    members: HashSet<Arc<str>>,
    /// Number of URIs that are not subscribed ones.
    others: usize,
    other_bytes: usize,
    end: Option<ClientError>,
    is_ended: bool,
    waker: Option<Waker>,
}

impl PendingUpdates {
    /// Creates an empty list. `uris` are the subscribed resources, in order.
    pub(super) fn new(uris: Vec<Arc<str>>, limits: &ClientLimits) -> Arc<Self> {
        Arc::new(Self {
            uris,
            state: Mutex::default(),
            max_others: limits.queued_notifications,
            max_other_bytes: limits.queued_notification_bytes,
        })
    }

    /// Returns the subscribed resources.
    pub(super) fn uris(&self) -> &[Arc<str>] {
        &self.uris
    }

    /// Adds an update of a subscribed resource, or of a part of one. Beyond the bounds, all subscribed resources count as updated.
    pub(super) fn push(&self, uri: &str) {
        let mut state = self.state();
        if !self.is_subscribed(uri) && !state.members.contains(uri) {
            state.others += 1;
            state.other_bytes += uri.len();
            if state.others > self.max_others || state.other_bytes > self.max_other_bytes {
                drop(state);
                return self.push_all();
            }
        }
        state.insert(uri.into());
        Self::wake(state);
    }

    /// Replaces the updates by one of each subscribed resource, after some may have been missed.
    pub(super) fn push_all(&self) {
        let mut state = self.state();
        state.order.clear();
        state.members.clear();
        (state.others, state.other_bytes) = (0, 0);
        for uri in &self.uris {
            state.insert(Arc::clone(uri));
        }
        Self::wake(state);
    }

    /// Ends the stream with an error, after the updates that are in it.
    pub(super) fn end(&self, error: ClientError) {
        let mut state = self.state();
        state.is_ended = true;
        state.end = Some(error);
        Self::wake(state);
    }

    pub(super) fn poll_next(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<String, ClientError>>> {
        poll_within_budget(context, |context| self.poll_update(context))
    }

    fn poll_update(&self, context: &mut Context<'_>) -> Poll<Option<Result<String, ClientError>>> {
        let mut state = self.state();
        if let Some(uri) = state.order.pop_front() {
            state.members.remove(&uri);
            if !self.is_subscribed(&uri) {
                state.others -= 1;
                state.other_bytes -= uri.len();
            }
            return Poll::Ready(Some(Ok(uri.as_ref().to_owned())));
        }
        if state.is_ended {
            return Poll::Ready(state.end.take().map(Err));
        }
        let former = state.waker.replace(context.waker().clone());
        drop(state);
        drop(former);
        Poll::Pending
    }

    fn is_subscribed(&self, uri: &str) -> bool {
        let found = self.uris.binary_search_by(|known| known.as_ref().cmp(uri));
        found.is_ok()
    }

    /// Wakes the reader, without the lock.
    fn wake(mut state: MutexGuard<'_, State>) {
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(&mut self, uri: Arc<str>) {
        if self.members.insert(Arc::clone(&uri)) {
            self.order.push_back(uri);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(pending: &PendingUpdates) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut taken = Vec::new();
        while let Poll::Ready(Some(Ok(uri))) = pending.poll_next(&mut context) {
            taken.push(uri);
        }
        taken
    }

    #[test]
    fn each_uri_is_pending_once_and_parts_are_bounded() {
        let limits = ClientLimits::default().queued_notifications(2);
        let pending = PendingUpdates::new(vec!["a:1".into(), "a:2".into()], &limits);
        for uri in ["a:2", "a:1", "a:2"] {
            pending.push(uri);
        }
        assert_eq!(taken(&pending), ["a:2", "a:1"]);
        for uri in ["a:1/0", "a:1/1", "a:1/0", "a:1"] {
            pending.push(uri);
        }
        assert_eq!(taken(&pending), ["a:1/0", "a:1/1", "a:1"]);
        for part in 0..3 {
            pending.push(&format!("a:1/{part}"));
        }
        assert_eq!(taken(&pending), ["a:1", "a:2"], "the bound");
        let long = "a:1/".to_owned() + &"x".repeat(limits.queued_notification_bytes / 2);
        pending.push(&long);
        pending.push(&(long.clone() + "y"));
        assert_eq!(taken(&pending), ["a:1", "a:2"], "the bound of bytes");
        pending.push(&long);
        assert_eq!(taken(&pending), [&*long]);
        pending.push("a:1");
        pending.end(ClientError::closed("gone"));
        assert_eq!(taken(&pending), ["a:1"]);
    }
}
