//! Sources of randomness and of the time of day, which a simulation replaces.

use std::time::SystemTime;

use ring::rand::{SecureRandom, SystemRandom};
use tokio::task::JoinHandle;

/// Error of an operating system without random bytes.
#[derive(Debug)]
pub struct NoRandomBytes;

/// Fills `bytes` with random bytes of the operating system.
///
/// # Errors
///
/// The operating system provides none.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), NoRandomBytes> {
    #[cfg(feature = "sim")]
    if let Some(environment) = simulated::current() {
        environment.fill_random(bytes);
        return Ok(());
    }
    SystemRandom::new().fill(bytes).map_err(|_| NoRandomBytes)
}

/// Returns the time of day.
pub fn system_time() -> SystemTime {
    #[cfg(feature = "sim")]
    if let Some(environment) = simulated::current() {
        return environment.system_time();
    }
    SystemTime::now()
}

/// Runs blocking work on a thread of its own; in a simulation in a task, because threads have no order.
pub(crate) fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    #[cfg(feature = "sim")]
    if simulated::current().is_some() {
        return tokio::spawn(async move { work() });
    }
    tokio::task::spawn_blocking(work)
}

/// Spawns a task that outlives the calls of clients by design. A simulation does not take it for one that a call has left behind.
#[inline]
pub fn spawn_lasting(work: impl Future<Output = ()> + Send + 'static) {
    #[cfg(feature = "sim")]
    if let Some(environment) = simulated::current() {
        let counted = environment.lasting_task();
        tokio::spawn(async move {
            work.await;
            drop(counted);
        });
        return;
    }
    tokio::spawn(work);
}

/// Waits for a future in blocking work.
pub(crate) fn block_on(future: impl Future<Output = ()>) {
    #[cfg(feature = "sim")]
    if simulated::current().is_some() {
        // The work is a task here, which cannot wait. A message for which there is no room is dropped.
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = std::pin::pin!(future).poll(&mut context);
        return;
    }
    tokio::runtime::Handle::current().block_on(future);
}

/// Replacement of the environment on one thread.
#[cfg(feature = "sim")]
pub mod simulated {
    use std::cell::RefCell;
    use std::fmt;
    use std::sync::Arc;
    use std::time::SystemTime;

    /// Environment of one simulated process.
    pub trait Environment: Send + Sync {
        /// Fills `bytes` from the seed of the simulation.
        fn fill_random(&self, bytes: &mut [u8]);

        /// Returns the time of day of the process.
        fn system_time(&self) -> SystemTime;

        /// Counts a lasting task until the value is dropped.
        fn lasting_task(&self) -> Arc<()>;
    }

    thread_local! {
        static CURRENT: RefCell<Option<Arc<dyn Environment>>> = const { RefCell::new(None) };
    }

    /// Returns the environment of this thread, unless it is the real one.
    pub(super) fn current() -> Option<Arc<dyn Environment>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Replaces the environment of this thread until the guard is dropped.
    pub fn enter(environment: Arc<dyn Environment>) -> Entered {
        Entered(CURRENT.replace(Some(environment)))
    }

    /// Guard of a replaced environment.
    pub struct Entered(Option<Arc<dyn Environment>>);

    impl Drop for Entered {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }

    impl fmt::Debug for Entered {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.debug_struct("Entered").finish_non_exhaustive()
        }
    }
}
