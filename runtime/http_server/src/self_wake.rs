//! Waker of a connection that answers its own wake-ups with another poll.
//!
//! hyper wakes its connection several times in the poll that handles a request. In a runtime with several threads, each of these
//! wake-ups would also wake another thread, which may take the connection over.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

const POLLING: u8 = 1;
const WOKEN: u8 = 2;

/// Maximum number of polls in sequence, after which other tasks run first.
const MAX_POLLS: usize = 8;

/// Future of one task, with wake-ups during its polls.
pub(super) struct SelfWake {
    state: Arc<State>,
    waker: Waker,
}

/// Flags, and the waker of the task, which is the same for its whole life.
#[derive(Default)]
struct State {
    flags: AtomicU8,
    task: OnceLock<Waker>,
}

impl SelfWake {
    pub(super) fn new() -> Self {
        let state = Arc::new(State::default());
        Self {
            waker: Arc::clone(&state).into(),
            state,
        }
    }

    /// Polls until the output is ready or nothing has woken the task since the last poll.
    pub(super) fn poll<T>(
        &self,
        context: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let State { flags, task } = &*self.state;
        task.get_or_init(|| context.waker().clone());
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
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let flags = self.flags.fetch_or(WOKEN, Ordering::AcqRel);
        // Otherwise another poll follows already.
        if flags == 0 {
            if let Some(task) = self.task.get() {
                task.wake_by_ref();
            }
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
        let (task, mut polls, mut inner) = (SelfWake::new(), 0, None);
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
        let (task, mut polls) = (SelfWake::new(), 0);
        let polled = task.poll(&mut Context::from_waker(&waker), |context| {
            polls += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((polls, count.0.load(Ordering::Relaxed)), (MAX_POLLS, 1));
    }
}
