//! Work of [`Context::once`] that runs now: no question interrupts it, and it cannot ask.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use crate::ask::asker::Level;
use crate::call::CallState;
use crate::context::Context;

thread_local! {
    /// The calls whose work this thread polls, the innermost last.
    static POLLED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Work that runs now, until it is dropped.
pub(super) struct Work<'c> {
    state: &'c Arc<CallState>,
    level: Level,
}

impl<'c> Work<'c> {
    #[inline]
    pub(super) fn start(context: &'c Context) -> Self {
        let (state, level) = (context.state(), context.asker().level);
        if let Some(round) = state.round() {
            round.start_work(level);
        }
        Self { state, level }
    }

    pub(super) async fn run<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            let _polled = Polled::enter(self.state);
            work.as_mut().poll(context)
        })
        .await
    }

    /// Returns `true` within the work of a call. Its questions would wait for the end of the work, and so for themselves.
    #[inline]
    pub(super) fn is_polled(state: &Arc<CallState>) -> bool {
        let id = id(state);
        POLLED
            .try_with(|polled| polled.borrow().contains(&id))
            .unwrap_or(false)
    }
}

impl Drop for Work<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(round) = self.state.round() {
            round.end_work(self.level);
        }
    }
}

/// Mark of this thread for the time of one poll, also of one that panics.
struct Polled;

impl Polled {
    #[inline]
    fn enter(state: &Arc<CallState>) -> Self {
        let id = id(state);
        let _ = POLLED.try_with(|polled| polled.borrow_mut().push(id));
        Self
    }
}

impl Drop for Polled {
    #[inline]
    fn drop(&mut self) {
        let _ = POLLED.try_with(|polled| polled.borrow_mut().pop());
    }
}

fn id(state: &Arc<CallState>) -> usize {
    Arc::as_ptr(state) as usize
}
