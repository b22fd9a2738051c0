//! One task at a time, for all callers that need its result.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::race::{First, race};
use crate::AuthError;

type Outcome<T> = Option<Result<T, AuthError>>;
type Sender<T> = Arc<watch::Sender<Outcome<T>>>;

/// Task that several callers wait for. It continues when its initiator is cancelled, and its result is not lost.
#[derive(Debug)]
pub(crate) struct SingleFlight<T> {
    running: Arc<Running<T>>,
}

/// The task that new callers join.
#[derive(Debug)]
struct Running<T>(Mutex<Option<Sender<T>>>);

impl<T> Running<T> {
    fn lock(&self) -> MutexGuard<'_, Option<Sender<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Callers that wait for a task.
#[derive(Debug)]
pub(crate) struct Waiters(Box<dyn Callers>);

trait Callers: fmt::Debug + Send + Sync {
    /// Waits until there are none.
    fn closed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Lets later callers start a task of their own. Returns false if another one waits by now.
    fn abandon(&self) -> bool;
}

/// Callers of one task.
#[derive(Debug)]
struct CallersOf<T> {
    sender: Sender<T>,
    running: Arc<Running<T>>,
}

impl<T: fmt::Debug + Send + Sync> Callers for CallersOf<T> {
    fn closed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.sender.closed())
    }

    fn abandon(&self) -> bool {
        // Callers join under the lock.
        let mut running = self.running.lock();
        if self.sender.receiver_count() > 0 {
            return false;
        }
        running.take_if(|running| Arc::ptr_eq(running, &self.sender));
        true
    }
}

impl Waiters {
    /// Waits for a future, as long as one of them waits. The future is not started if all of them were cancelled already.
    ///
    /// # Errors
    ///
    /// [`AuthError::NotAuthorized`] after all of them were cancelled. No later caller receives it.
    pub(crate) async fn serve<T>(&self, future: impl Future<Output = T>) -> Result<T, AuthError> {
        let mut future = pin!(future);
        loop {
            match race(self.0.closed(), future.as_mut()).await {
                First::Right(value) => return Ok(value),
                First::Left(()) if self.0.abandon() => break,
                First::Left(()) => {}
            }
        }
        let reason = "all calls that needed the authorization were cancelled";
        Err(AuthError::NotAuthorized(reason.into()))
    }
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        let running = Running(Mutex::default());
        Self {
            running: Arc::new(running),
        }
    }
}

impl<T: Clone + fmt::Debug + Send + Sync + 'static> SingleFlight<T> {
    /// Waits for the running task, or starts `job` as one.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the task running.
    pub(crate) async fn run<F, R>(&self, job: F) -> Result<T, AuthError>
    where
        F: FnOnce(Waiters) -> R,
        R: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        let mut receiver = self.join(job);
        let outcome = receiver.wait_for(Option::is_some).await;
        let outcome = outcome.map_err(|_| stopped())?.clone();
        outcome.unwrap_or_else(|| Err(stopped()))
    }

    /// Returns true if a caller would join a task.
    pub(crate) fn is_running(&self) -> bool {
        let running = self.running.lock();
        running.as_ref().is_some_and(|one| one.borrow().is_none())
    }

    fn join<F, R>(&self, job: F) -> watch::Receiver<Outcome<T>>
    where
        F: FnOnce(Waiters) -> R,
        R: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        let mut running = self.running.lock();
        if let Some(sender) = running.as_ref().filter(|one| one.borrow().is_none()) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        let sender = Arc::new(sender);
        *running = Some(Arc::clone(&sender));
        let callers = CallersOf {
            sender: Arc::clone(&sender),
            running: Arc::clone(&self.running),
        };
        let job = tokio::spawn(job(Waiters(Box::new(callers))));
        let mut ending = Ending(sender);
        tokio::spawn(async move {
            if let Ok(outcome) = job.await {
                ending.0.send_replace(Some(outcome));
            }
            ending.end();
        });
        receiver
    }
}

/// End of a task. Callers get an error if the task panicked, or if its runtime has stopped.
struct Ending<T>(Arc<watch::Sender<Outcome<T>>>);

impl<T> Ending<T> {
    fn end(&mut self) {
        self.0.send_if_modified(|outcome| {
            let is_missing = outcome.is_none();
            if is_missing {
                *outcome = Some(Err(stopped()));
            }
            is_missing
        });
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        self.end();
    }
}

fn stopped() -> AuthError {
    AuthError::Unavailable("the authorization was interrupted".into())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;

    /// AUTH-X-15, AUTH-C-116, AUTH-C-119
    #[tokio::test]
    async fn the_task_of_a_cancelled_initiator_serves_all_others() {
        let flight = Arc::new(SingleFlight::<u32>::default());
        let (runs, release) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let job = |runs: Arc<AtomicU32>, release: Arc<Notify>| async move {
            runs.fetch_add(1, Ordering::Relaxed);
            release.notified().await;
            Ok(7)
        };
        let call = || {
            let (flight, runs, release) = (flight.clone(), runs.clone(), release.clone());
            tokio::spawn(async move { flight.run(|_| job(runs, release)).await })
        };
        let leader = call();
        while runs.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        let others: Vec<_> = (0..100).map(|_| call()).collect();
        tokio::task::yield_now().await;
        leader.abort();
        assert!(leader.await.is_err());
        release.notify_one();
        for other in others {
            assert_eq!(other.await.unwrap().unwrap(), 7);
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_task_is_notified_when_its_last_caller_is_cancelled() {
        let flight = SingleFlight::<u32>::default();
        let abandoned = Arc::new(Notify::new());
        let sender = abandoned.clone();
        let call = flight.run(|waiters| async move {
            let served = waiters.serve(std::future::pending::<()>()).await;
            sender.notify_one();
            served.map(|()| 1)
        });
        assert!(
            tokio::time::timeout(std::time::Duration::ZERO, call)
                .await
                .is_err()
        );
        abandoned.notified().await;
    }

    #[tokio::test]
    async fn a_new_caller_does_not_inherit_the_cancellation_of_the_others() {
        let flight = Arc::new(SingleFlight::<u32>::default());
        let mut first = Box::pin(flight.run(|waiters| async move {
            let served = waiters.serve(std::future::pending::<()>()).await;
            served.map(|()| 1)
        }));
        for _ in 0..5 {
            let polled = tokio::time::timeout(std::time::Duration::ZERO, &mut first).await;
            assert!(polled.is_err());
            tokio::task::yield_now().await;
        }
        drop(first);
        let others = flight.clone();
        let second = tokio::spawn(async move { others.run(|_| async { Ok(2) }).await });
        assert_eq!(second.await.unwrap().unwrap(), 2, "AUTH-C-119");
    }

    #[tokio::test]
    async fn a_caller_that_joins_before_the_task_ends_is_served_by_it() {
        let flight = Arc::new(SingleFlight::<u32>::default());
        let release = Arc::new(Notify::new());
        let released = release.clone();
        let mut first =
            Box::pin(flight.run(|waiters| async move {
                waiters.serve(released.notified()).await.map(|()| 1)
            }));
        for _ in 0..5 {
            let polled = tokio::time::timeout(std::time::Duration::ZERO, &mut first).await;
            assert!(polled.is_err());
            tokio::task::yield_now().await;
        }
        drop(first);
        // The task has not run since.
        let mut second = Box::pin(flight.run(|_| async { Ok(2) }));
        let polled = tokio::time::timeout(std::time::Duration::ZERO, &mut second).await;
        assert!(polled.is_err());
        release.notify_one();
        assert_eq!(second.await.unwrap(), 1, "AUTH-C-119");
    }

    #[tokio::test]
    async fn nothing_is_started_for_callers_that_were_cancelled_before() {
        let flight = SingleFlight::<u32>::default();
        let (cancelled, is_cancelled) = tokio::sync::oneshot::channel();
        let (sender, started) = tokio::sync::oneshot::channel();
        let call = flight.run(|waiters| async move {
            is_cancelled.await.unwrap();
            let served = waiters.serve(std::future::ready(1)).await;
            sender.send(served.is_ok()).unwrap();
            served
        });
        assert!(
            tokio::time::timeout(std::time::Duration::ZERO, call)
                .await
                .is_err()
        );
        cancelled.send(()).unwrap();
        assert!(!started.await.unwrap());
    }

    #[tokio::test]
    async fn a_panic_is_an_error_of_all_callers() {
        let flight = SingleFlight::<u32>::default();
        let result = flight.run(|_| async { panic!("expected by the test") });
        assert!(result.await.is_err());
        assert_eq!(flight.run(|_| async { Ok(2) }).await.unwrap(), 2);
    }
}
