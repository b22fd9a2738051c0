//! Budget for the calls of a server as a whole, over all connections and sessions.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Share of the budget, as a divisor, that is reserved for peers without another call in flight.
const RESERVED: usize = 4;

/// Places for the calls of a server that are in flight.
///
/// Only a call that is not ready at once takes one, so short calls cost no more than a look at the number of free places.
/// A part of the places is reserved for peers that have no call in flight: a few peers with many calls each leave it free.
#[derive(Debug)]
pub(crate) struct CallBudget {
    common: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    /// How many calls one message may begin.
    most: usize,
}

impl CallBudget {
    pub(crate) fn new(calls: usize) -> Self {
        let calls = calls.clamp(1, Semaphore::MAX_PERMITS);
        let reserved = calls / RESERVED;
        let most = calls - reserved;
        Self {
            common: Arc::new(Semaphore::new(most)),
            reserved: Arc::new(Semaphore::new(reserved)),
            most,
        }
    }

    /// The number of calls that one message may begin.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most
    }

    /// Returns whether a peer may start `calls` more calls. Those that begin on other threads at the same moment are not counted, so
    /// the budget may be exceeded by as many.
    pub(crate) fn has_room(&self, calls: usize, peer_is_busy: bool) -> bool {
        self.common.available_permits() >= calls
            || (calls == 1 && !peer_is_busy && self.reserved.available_permits() > 0)
    }

    /// Takes the place of a call that has begun, if there is still one.
    pub(crate) fn take(&self, peer_is_busy: bool) -> Option<OwnedSemaphorePermit> {
        self.take_many(1).or_else(|| {
            let reserved = (!peer_is_busy).then(|| Arc::clone(&self.reserved))?;
            reserved.try_acquire_owned().ok()
        })
    }

    /// Takes `calls` places for one message, if there are as many.
    pub(crate) fn take_many(&self, calls: usize) -> Option<OwnedSemaphorePermit> {
        let calls = u32::try_from(calls).ok()?;
        Arc::clone(&self.common).try_acquire_many_owned(calls).ok()
    }

    /// Waits until `calls` places are free, and takes them. Peers are served in the order in which they asked.
    pub(crate) fn wait(
        &self,
        calls: usize,
        peer_is_busy: bool,
    ) -> impl Future<Output = Option<OwnedSemaphorePermit>> + Send + 'static + use<> {
        let may_use_reserve = calls == 1 && !peer_is_busy;
        let calls = u32::try_from(calls.clamp(1, self.most)).unwrap_or(u32::MAX);
        let common = Arc::clone(&self.common).acquire_many_owned(calls);
        let reserved = may_use_reserve.then(|| Arc::clone(&self.reserved).acquire_owned());
        async move {
            let mut common = pin!(common);
            let Some(reserved) = reserved else {
                return common.await.ok();
            };
            let mut reserved = pin!(reserved);
            let first = poll_fn(|context| match common.as_mut().poll(context) {
                Poll::Pending => reserved.as_mut().poll(context),
                ready @ Poll::Ready(_) => ready,
            });
            first.await.ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn busy_peers_leave_the_reserve_to_others() {
        let budget = CallBudget::new(8);
        let busy: Vec<_> = (0..6).map(|_| budget.take(true)).collect();
        assert!(busy.iter().all(Option::is_some));
        assert!(!budget.has_room(1, true) && budget.take(true).is_none());
        assert!(budget.has_room(1, false) && !budget.has_room(2, false));
        let others: Vec<_> = (0..2).map(|_| budget.take(false)).collect();
        assert!(others.iter().all(Option::is_some));
        assert!(!budget.has_room(1, false) && budget.take(false).is_none());
        drop(busy);
        assert!(budget.has_room(6, true) && !budget.has_room(7, true));
    }

    #[test]
    fn a_peer_without_calls_waits_for_the_reserve_too() {
        let budget = CallBudget::new(4);
        let common: Vec<_> = (0..3).map(|_| budget.take(true)).collect();
        let reserved = budget.take(false);
        let mut context = Context::from_waker(Waker::noop());
        let mut idle = pin!(budget.wait(1, false));
        let mut busy = pin!(budget.wait(1, true));
        assert!(idle.as_mut().poll(&mut context).is_pending());
        assert!(busy.as_mut().poll(&mut context).is_pending());
        drop(reserved);
        assert!(idle.as_mut().poll(&mut context).is_ready());
        assert!(busy.as_mut().poll(&mut context).is_pending());
        drop(common);
        assert!(busy.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn every_budget_has_a_place() {
        for calls in [0, 1, 2, 3, usize::MAX] {
            let budget = CallBudget::new(calls);
            assert!(budget.has_room(1, true), "{calls}");
            assert!(budget.take(true).is_some(), "{calls}");
        }
    }
}
