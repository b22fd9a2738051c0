//! One simulated process: a runtime with a clock of its own, and its environment.
//!
//! Dropping a runtime drops all its tasks at once, those of user code included. That is a crash.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, advance, sleep_until};
use treenail_runtime::internal::simulated::{self, Environment};

use crate::panics;
use crate::random::Random;
use crate::watchdog::Watchdog;
use crate::world::{lock, within};

/// Time of day at the start of a simulation, in seconds since 1970: 2026-07-28.
const START: u64 = 1_785_196_800;

/// Work of a process that the engine drives. It need not be `Send`.
pub(crate) type Main = Pin<Box<dyn Future<Output = ()>>>;

/// Clock and randomness of a process.
pub(crate) struct HostClock {
    name: String,
    /// Virtual time at which the process started.
    base: u64,
    origin: OnceLock<Instant>,
    random: Mutex<Random>,
    /// Difference of its time of day in milliseconds.
    skew: AtomicI64,
    ended: AtomicBool,
    /// Panics since the engine last looked.
    panics: Mutex<Vec<String>>,
    /// Each lasting task has a clone.
    lasting: Arc<()>,
}

impl fmt::Debug for HostClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("HostClock")
            .field(&self.name)
            .finish()
    }
}

impl HostClock {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the virtual time in milliseconds; `None` before the runtime runs.
    pub(crate) fn now(&self) -> Option<u64> {
        let origin = self.origin.get()?;
        // Outside of the runtime, the clock of tokio is the real one.
        tokio::runtime::Handle::try_current().ok()?;
        let elapsed = Instant::now().saturating_duration_since(*origin);
        Some(self.base + u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns `true` once its tasks are being dropped.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn shift(&self, milliseconds: i64) {
        self.skew.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Returns a random number below `end`, or 0 if there is none.
    pub(crate) fn random(&self, end: u64) -> u64 {
        lock(&self.random).below(end)
    }

    /// Notes a panic, unless its tasks are being dropped.
    pub(crate) fn note_panic(&self, text: String) {
        if !self.has_ended() {
            lock(&self.panics).push(text);
        }
    }

    /// Returns the panics that [`catch`](Self::catch) has not returned.
    pub(crate) fn take_panics(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.panics))
    }

    /// Runs user code. The error is the description of its panic.
    pub(crate) fn catch<T>(&self, action: impl FnOnce() -> T) -> Result<T, String> {
        catch_unwind(AssertUnwindSafe(action)).map_err(|panic| {
            let noted = lock(&self.panics).pop();
            // That of another task that is resumed here may have been taken.
            noted.unwrap_or_else(|| panics::message(&*panic))
        })
    }
}

impl Environment for HostClock {
    fn fill_random(&self, bytes: &mut [u8]) {
        lock(&self.random).fill(bytes);
    }

    fn system_time(&self) -> SystemTime {
        // The difference may be less than the negated time since the start.
        let now = START * 1_000 + self.now().unwrap_or(self.base);
        let now = now.saturating_add_signed(self.skew.load(Ordering::Relaxed));
        UNIX_EPOCH + Duration::from_millis(now)
    }

    fn lasting_task(&self) -> Arc<()> {
        Arc::clone(&self.lasting)
    }
}

/// A simulated process.
pub(crate) struct Host {
    pub(crate) clock: Arc<HostClock>,
    /// `None` once the process has ended.
    runtime: Option<Runtime>,
    main: Option<Main>,
    /// Virtual time up to which it has run.
    time: u64,
    /// Virtual time at which a paused process continues.
    pub(crate) paused_until: u64,
    /// Its last step did not end in real time.
    pub(crate) is_stuck: bool,
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Host").finish_non_exhaustive()
    }
}

impl Host {
    /// Starts a process at the virtual time `now`. `skew` is that of its time of day.
    pub(crate) fn start(
        name: String,
        now: u64,
        random: Random,
        skew: i64,
    ) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let clock = Arc::new(HostClock {
            name,
            base: now,
            origin: OnceLock::new(),
            random: Mutex::new(random),
            skew: AtomicI64::new(skew),
            ended: AtomicBool::new(false),
            panics: Mutex::default(),
            lasting: Arc::default(),
        });
        {
            let _context = runtime.enter();
            let _ = clock.origin.set(Instant::now());
        }
        Ok(Self {
            clock,
            runtime: Some(runtime),
            main: None,
            time: now,
            paused_until: 0,
            is_stuck: false,
        })
    }

    /// Runs `action` in the context of the process.
    pub(crate) fn enter<T>(&self, action: impl FnOnce() -> T) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        let _environment = simulated::enter(Arc::clone(&self.clock) as Arc<dyn Environment>);
        let _context = runtime.enter();
        Some(within(&self.clock, action))
    }

    pub(crate) fn set_main(&mut self, main: impl Future<Output = ()> + 'static) {
        self.main = Some(Box::pin(main));
    }

    pub(crate) fn is_done(&self) -> bool {
        self.main.is_none()
    }

    /// Returns the number of tasks that have not ended, without the lasting ones.
    pub(crate) fn tasks(&self) -> usize {
        let runtime = self.runtime.as_ref();
        let tasks = runtime.map_or(0, |runtime| runtime.metrics().num_alive_tasks());
        let lasting = Arc::strong_count(&self.clock.lasting) - 1;
        tasks.saturating_sub(lasting)
    }

    /// Runs until the virtual time `to`. Returns the message of a panic of its main work.
    pub(crate) fn step(&mut self, to: u64, watchdog: &Watchdog) -> Result<(), String> {
        if to <= self.paused_until || to <= self.time {
            return Ok(());
        }
        let Some(runtime) = &self.runtime else {
            return Ok(());
        };
        let missed = self.paused_until.saturating_sub(self.time);
        let ahead = to - self.time;
        let (main, is_stuck) = (&mut self.main, &mut self.is_stuck);
        let _environment = simulated::enter(Arc::clone(&self.clock) as Arc<dyn Environment>);
        let outcome = within(&self.clock, || {
            runtime.block_on(async {
                let end = Instant::now() + Duration::from_millis(ahead);
                if missed > 0 {
                    advance(Duration::from_millis(missed)).await;
                }
                let outcome = watch(watchdog, run_until(main, end, &self.clock)).await;
                *is_stuck = outcome.is_none();
                outcome.unwrap_or(Ok(()))
            })
        });
        self.time = to;
        outcome
    }

    /// Ends the process: all its tasks and its main work are dropped.
    pub(crate) fn end(&mut self) {
        let _environment = simulated::enter(Arc::clone(&self.clock) as Arc<dyn Environment>);
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let main = self.main.take();
        self.clock.ended.store(true, Ordering::Relaxed);
        within(&self.clock, || {
            {
                let _context = runtime.enter();
                drop(main);
            }
            if self.is_stuck {
                // Its blocking work may have no end.
                runtime.shutdown_background();
            } else {
                drop(runtime);
            }
        });
    }
}

/// Waits for the end of a step. Returns `None` once it is late.
async fn watch<T>(watchdog: &Watchdog, work: impl Future<Output = T>) -> Option<T> {
    let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
    let step = watchdog.begin(&waker);
    let mut work = pin!(work);
    poll_fn(|context| {
        if step.is_late() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(context).map(Some)
    })
    .await
}

/// Polls the main work until `end`.
async fn run_until(main: &mut Option<Main>, end: Instant, clock: &HostClock) -> Result<(), String> {
    let mut timer = pin!(sleep_until(end));
    poll_fn(|context| {
        if let Some(future) = main {
            match clock.catch(|| future.as_mut().poll(context)) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(())) => *main = None,
                Err(message) => {
                    *main = None;
                    return Poll::Ready(Err(message));
                }
            }
        }
        timer.as_mut().poll(context).map(Ok)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_jumps_back_before_the_start() {
        let random = || Random::new(1, 1);
        let host = Host::start("replica-0".to_owned(), 0, random(), -3_600_000).unwrap();
        let start = UNIX_EPOCH + Duration::from_secs(START);
        let hour = Duration::from_secs(3_600);
        assert_eq!(host.enter(|| host.clock.system_time()), Some(start - hour));
        host.clock.shift(7_200_000);
        assert_eq!(host.enter(|| host.clock.system_time()), Some(start + hour));
    }
}
