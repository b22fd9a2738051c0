//! Timeout of many short reads, with one timer for all of them.
//!
//! Bodies are usually complete after one poll or two. A timer for each would be registered with the runtime each time, which can
//! wake the thread that waits for timers.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::mem::replace;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep_until};
use treenail_runtime::internal::deadline;

/// Maximum number of reads that elapse under one lock.
const MAX_ELAPSED: usize = 256;

/// Timeout of the reads of one service.
#[derive(Debug)]
pub(super) struct ReadTimeout {
    length: Duration,
    reads: Mutex<Reads>,
}

#[derive(Debug, Default)]
struct Reads {
    /// Pending reads, by a number that increases. All have the same timeout, so the first one elapses first.
    pending: BTreeMap<u64, Pending>,
    last_key: u64,
    /// A task waits for the earliest deadline.
    is_watched: bool,
}

#[derive(Debug)]
struct Pending {
    deadline: Instant,
    waker: Waker,
}

impl ReadTimeout {
    pub(super) fn new(length: Duration) -> Arc<Self> {
        Arc::new(Self {
            length,
            reads: Mutex::default(),
        })
    }

    /// Waits for a read. `None` if it takes longer than the timeout.
    ///
    /// Takes from the budget of the task as a timer does, so that a task whose reads are all ready yields to others.
    pub(super) async fn limit<F: Future>(self: &Arc<Self>, read: F) -> Option<F::Output> {
        consume_budget().await;
        let mut read = pin!(read);
        let mut place = Place {
            timeout: self,
            key: None,
        };
        poll_fn(|context| match read.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => place.poll_elapsed(context).map(|()| None),
        })
        .await
    }

    /// Starts the task that waits for the earliest deadline.
    fn watch(self: &Arc<Self>) {
        let mut watch = Watch {
            timeout: Arc::downgrade(self),
            next: Some(deadline::after(self.length)),
        };
        tokio::spawn(async move {
            while let Some(next) = watch.next {
                sleep_until(next).await;
                watch.wake_elapsed();
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Reads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Place of a read among the pending ones, once it is pending.
struct Place<'a> {
    timeout: &'a Arc<ReadTimeout>,
    key: Option<u64>,
}

impl Place<'_> {
    /// Polls the deadline, which counts from the first poll.
    fn poll_elapsed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut reads = self.timeout.lock();
        let mut old = None;
        if let Some(key) = self.key {
            let Some(pending) = reads.pending.get_mut(&key) else {
                return Poll::Ready(());
            };
            if !pending.waker.will_wake(context.waker()) {
                old = Some(replace(&mut pending.waker, context.waker().clone()));
            }
        } else {
            self.key = Some(reads.insert(Pending {
                deadline: deadline::after(self.timeout.length),
                waker: context.waker().clone(),
            }));
        }
        let is_watched = replace(&mut reads.is_watched, true);
        drop(reads);
        // Dropping a waker may drop its task, so the lock is released first.
        drop(old);
        if !is_watched {
            self.timeout.watch();
        }
        Poll::Pending
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let mut reads = self.timeout.lock();
            let removed = reads.pending.remove(&key);
            drop(reads);
            drop(removed);
        }
    }
}

impl Reads {
    fn insert(&mut self, read: Pending) -> u64 {
        self.last_key += 1;
        self.pending.insert(self.last_key, read);
        self.last_key
    }

    /// Removes reads that have elapsed. Returns the earliest deadline of the others.
    fn remove_elapsed(&mut self, now: Instant, wakers: &mut Vec<Waker>) -> Option<Instant> {
        loop {
            let first = self.pending.first_entry()?;
            let deadline = first.get().deadline;
            if deadline > now || wakers.len() == MAX_ELAPSED {
                return Some(deadline);
            }
            wakers.push(first.remove().waker);
        }
    }
}

/// State of the task that waits for deadlines.
struct Watch {
    timeout: Weak<ReadTimeout>,
    /// `None` after the last deadline.
    next: Option<Instant>,
}

impl Watch {
    /// Wakes the reads that have elapsed, and finds the next deadline.
    fn wake_elapsed(&mut self) {
        let mut wakers = Vec::new();
        self.next = None;
        if let Some(timeout) = self.timeout.upgrade() {
            let mut reads = timeout.lock();
            self.next = reads.remove_elapsed(Instant::now(), &mut wakers);
            reads.is_watched = self.next.is_some();
        }
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// If the runtime of the task ends first, the reads of other runtimes start another task.
impl Drop for Watch {
    fn drop(&mut self) {
        let Some(timeout) = self.timeout.upgrade().filter(|_| self.next.is_some()) else {
            return;
        };
        let mut reads = timeout.lock();
        reads.is_watched = false;
        let waiting = reads.pending.values();
        let wakers: Vec<Waker> = waiting.map(|read| read.waker.clone()).collect();
        drop(reads);
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::task::{JoinSet, yield_now};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn each_read_has_the_whole_time() {
        let timeout = ReadTimeout::new(SECOND * 10);
        let start = Instant::now();
        assert_eq!(timeout.limit(ready(1)).await, Some(1));
        let late = async {
            tokio::time::sleep(SECOND * 7).await;
            assert_eq!(timeout.limit(pending::<()>()).await, None);
            start.elapsed()
        };
        let early = async {
            assert_eq!(timeout.limit(pending::<()>()).await, None);
            start.elapsed()
        };
        let (late, early) = tokio::join!(late, early);
        assert_eq!((early.as_secs(), late.as_secs()), (10, 17));
        assert!(!timeout.lock().is_watched);
    }

    #[tokio::test(start_paused = true)]
    async fn finished_reads_leave_nothing_behind() {
        let timeout = ReadTimeout::new(SECOND);
        for _ in 0..100 {
            assert_eq!(timeout.limit(yield_now()).await, Some(()));
        }
        let reads = timeout.lock();
        assert!(reads.pending.is_empty() && reads.is_watched);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_read_retains_no_other() {
        let timeout = ReadTimeout::new(SECOND);
        let slow = async { timeout.limit(pending::<()>()).await };
        let others = async {
            for _ in 0..100 {
                assert_eq!(timeout.limit(yield_now()).await, Some(()));
            }
            timeout.lock().pending.len()
        };
        assert_eq!(tokio::join!(slow, others), (None, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn more_reads_than_one_lock_removes_elapse_together() {
        let timeout = ReadTimeout::new(SECOND);
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..3 * MAX_ELAPSED {
            let timeout = Arc::clone(&timeout);
            tasks.spawn(async move { timeout.limit(pending::<()>()).await });
        }
        assert!(tasks.join_all().await.iter().all(Option::is_none));
        // The clock of tokio has a resolution of a millisecond.
        assert!(start.elapsed() < SECOND + SECOND / 100);
        assert!(!timeout.lock().is_watched);
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_has_moved_wakes_its_new_task() {
        let timeout = ReadTimeout::new(SECOND);
        let other = Arc::clone(&timeout);
        let mut read = Box::pin(async move { other.limit(pending::<()>()).await });
        poll_fn(|context| {
            let _ = read.as_mut().poll(context);
            Poll::Ready(())
        })
        .await;
        assert_eq!(tokio::spawn(read).await.unwrap(), None);
    }

    #[test]
    fn a_read_outlives_the_runtime_that_watched_it() {
        let build = || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().unwrap()
        };
        let timeout = ReadTimeout::new(SECOND);
        let other = build();
        assert_eq!(other.block_on(timeout.limit(yield_now())), Some(()));
        assert!(timeout.lock().is_watched);
        drop(other);
        assert!(!timeout.lock().is_watched);
        assert_eq!(build().block_on(timeout.limit(pending::<()>())), None);
    }
}
