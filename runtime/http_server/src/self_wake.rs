//! Waker of a connection that answers its own wake-ups with another poll.
//!
//! hyper wakes its connection several times in the poll that handles a request. In a runtime with several threads, each of these
//! wake-ups would also wake another thread, which may take the connection over.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

const POLLING: u8 = 1;
const WOKEN: u8 = 2;

/// Maximum number of polls in sequence, after which other tasks run first.
const MAX_POLLS: usize = 8;

/// Wake-ups of one future, during its polls and between them.
pub(super) struct SelfWake {
    state: Arc<State>,
    /// Waker of `state`, which the future gets.
    waker: Waker,
    /// Copy of the waker in `state`, compared without its lock.
    outer: Option<Waker>,
}

#[derive(Default)]
struct State {
    flags: AtomicU8,
    /// Waker of the last poll. It changes when the future moves to another task.
    outer: Mutex<Option<Waker>>,
}

impl SelfWake {
    pub(super) fn new() -> Self {
        let state = Arc::new(State::default());
        Self {
            waker: Arc::clone(&state).into(),
            state,
            outer: None,
        }
    }

    /// Polls until the output is ready or nothing has woken the future since the last poll.
    pub(super) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.set_outer(context.waker());
        let flags = &self.state.flags;
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..MAX_POLLS {
            flags.swap(POLLING, Ordering::AcqRel);
            if let Poll::Ready(output) = poll(&mut inner) {
                return Poll::Ready(output);
            }
            let ended = flags.compare_exchange(POLLING, 0, Ordering::AcqRel, Ordering::Acquire);
            if ended.is_ok() {
                return Poll::Pending;
            }
        }
        flags.store(WOKEN, Ordering::Release);
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Sets the waker for the wake-ups from now on.
    fn set_outer(&mut self, waker: &Waker) {
        if self.outer.as_ref().is_some_and(|old| old.will_wake(waker)) {
            return;
        }
        self.outer = Some(waker.clone());
        let old = self.state.lock().replace(waker.clone());
        // Dropping a waker may drop its task, so the lock is released first.
        drop(old);
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.outer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let flags = self.flags.fetch_or(WOKEN, Ordering::AcqRel);
        // Otherwise another poll follows already.
        if flags == 0 {
            let outer = self.lock().clone();
            outer.into_iter().for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn wake_ups_during_a_poll_do_not_reach_the_task() {
        let count = Arc::new(Count::default());
        let waker = Arc::clone(&count).into();
        let mut context = Context::from_waker(&waker);
        let (mut task, mut polls, mut inner) = (SelfWake::new(), 0, None);
        let polled = task.poll(&mut context, |context| {
            polls += 1;
            if polls < 4 {
                context.waker().wake_by_ref();
            }
            inner = Some(context.waker().clone());
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((polls, count.0.load(Ordering::Relaxed)), (4, 0));

        let inner = inner.unwrap();
        inner.wake_by_ref();
        inner.wake_by_ref();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(task.poll(&mut context, |_| Poll::Ready(())).is_ready());
    }

    #[test]
    fn a_busy_task_yields_to_others() {
        let count = Arc::new(Count::default());
        let waker = Arc::clone(&count).into();
        let (mut task, mut polls) = (SelfWake::new(), 0);
        let polled = task.poll(&mut Context::from_waker(&waker), |context| {
            polls += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((polls, count.0.load(Ordering::Relaxed)), (MAX_POLLS, 1));
    }

    #[test]
    fn a_future_that_has_moved_wakes_its_new_task() {
        let counts = [(); 2].map(|()| Arc::new(Count::default()));
        let [old, new] = counts.clone().map(Waker::from);
        let (mut task, mut inner) = (SelfWake::new(), None);
        for waker in [&old, &new] {
            let polled = task.poll(&mut Context::from_waker(waker), |context| {
                inner = Some(context.waker().clone());
                Poll::<()>::Pending
            });
            assert!(polled.is_pending());
        }
        inner.unwrap().wake();
        let counts = counts.map(|count| count.0.load(Ordering::Relaxed));
        assert_eq!(counts, [0, 1]);
    }

    #[test]
    fn a_wake_up_before_a_move_is_not_lost() {
        let counts = [(); 2].map(|()| Arc::new(Count::default()));
        let [old, new] = counts.clone().map(Waker::from);
        let (mut task, mut inner, mut polls) = (SelfWake::new(), None, 0);
        let mut poll = |waker, inner: &mut Option<Waker>| {
            let polled = task.poll(&mut Context::from_waker(waker), |context| {
                *inner = Some(context.waker().clone());
                polls += 1;
                Poll::<()>::Pending
            });
            assert!(polled.is_pending());
        };
        poll(&old, &mut inner);
        inner.take().unwrap().wake();
        poll(&new, &mut inner);
        inner.take().unwrap().wake();
        let counts = counts.map(|count| count.0.load(Ordering::Relaxed));
        assert_eq!((polls, counts), (2, [1, 1]));
    }
}
