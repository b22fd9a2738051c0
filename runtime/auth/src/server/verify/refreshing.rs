//! Values of another server that are fetched at first need and from time to time, by one request at a time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::server::VerifyError;
use crate::{AuthError, Clock};

/// Time after a failure in which nothing is fetched.
const RETRY: Duration = Duration::from_secs(5);
/// Time that requests wait for a new value while the former one can be used.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time after its lifetime in which a value is used if it cannot be fetched.
const STALE: Duration = Duration::from_secs(3600);

/// Value with the time for which it is current.
pub(super) struct Fetched<T> {
    pub(super) value: T,
    pub(super) lifetime: Duration,
}

/// A future of a [`Source`].
pub(super) type SourceFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<Fetched<T>, AuthError>> + Send + 'a>>;

/// Place that a value is fetched from.
pub(super) trait Source<T>: fmt::Debug + Send + Sync + 'static {
    fn fetch(&self) -> SourceFuture<'_, T>;
}

/// Value of a [`Source`]. All state is one value and two times, whatever peers send.
#[derive(Debug)]
pub(super) struct Refreshing<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    source: Box<dyn Source<T>>,
    clock: Clock,
    state: Mutex<State<T>>,
}

struct State<T> {
    current: Option<Current<T>>,
    /// The start of the last fetch.
    attempted: Option<SystemTime>,
    /// The last fetch has failed, or the one in progress takes too long.
    has_failed: bool,
    /// Closes at the end of the fetch in progress.
    flight: Option<watch::Receiver<()>>,
}

struct Current<T> {
    value: Arc<T>,
    /// The end of its lifetime.
    fresh_until: SystemTime,
    fetched: SystemTime,
}

impl<T: Send + Sync + 'static> Refreshing<T> {
    pub(super) fn new(source: impl Source<T>, clock: Clock) -> Self {
        let state = State {
            current: None,
            attempted: None,
            has_failed: false,
            flight: None,
        };
        Self {
            shared: Arc::new(Shared {
                source: Box::new(source),
                clock,
                state: Mutex::new(state),
            }),
        }
    }

    /// Returns the value. Fetches it at first need and after its lifetime. While it cannot be fetched, or not within a second, the
    /// former value is returned for one hour.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Unavailable`] if there is no value.
    pub(super) async fn get(&self) -> Result<Arc<T>, VerifyError> {
        let (flight, has_former, has_failed) = {
            let mut state = self.shared.state();
            let now = self.shared.clock.now();
            if let Some(current) = state.current.as_ref().filter(|it| it.is_fresh(now)) {
                return Ok(Arc::clone(&current.value));
            }
            let may_fetch = !state.has_failed || state.is_attempt_older(RETRY, now);
            let flight = self.shared.join(&mut state, may_fetch);
            let has_former = state.current.as_ref().is_some_and(|it| it.is_usable(now));
            (flight, has_former, state.has_failed)
        };
        let fetched = wait(flight.start());
        if !has_former {
            fetched.await;
        } else if !has_failed && timeout(PATIENCE, fetched).await.is_err() {
            // During an outage requests do not wait: an attempt may take its whole time.
            self.shared.state().note_delay();
        }
        let state = self.shared.state();
        let now = self.shared.clock.now();
        let current = state.current.as_ref().filter(|it| it.is_usable(now));
        current.map(|it| Arc::clone(&it.value)).ok_or(UNAVAILABLE)
    }

    /// Returns another value than `known`: the current one, or one that is fetched now. `None` if a fetch has begun in the `cooldown`
    /// before this call, so that peers cannot cause more than one fetch in this time.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Unavailable`] if the last fetch failed.
    pub(super) async fn newer(
        &self,
        known: &Arc<T>,
        cooldown: Duration,
    ) -> Result<Option<Arc<T>>, VerifyError> {
        let flight = {
            let mut state = self.shared.state();
            // Another request may have fetched it since.
            if let Some(newer) = state.other_than(known) {
                return Ok(Some(newer));
            }
            let may_fetch = state.is_attempt_older(cooldown, self.shared.clock.now());
            self.shared.join(&mut state, may_fetch)
        };
        wait(flight.start()).await;
        let state = self.shared.state();
        if state.has_failed {
            return Err(UNAVAILABLE);
        }
        Ok(state.other_than(known))
    }
}

const UNAVAILABLE: VerifyError = VerifyError::Unavailable { retry_after: RETRY };

async fn wait(flight: Option<watch::Receiver<()>>) {
    if let Some(mut flight) = flight {
        // Nothing is sent: the end of the sender ends the wait.
        while flight.changed().await.is_ok() {}
    }
}

impl<T: Send + Sync + 'static> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the fetch in progress, or a new one if there is none and `may_fetch` is set.
    fn join(self: &Arc<Self>, state: &mut State<T>, may_fetch: bool) -> Joined<T> {
        let mut new = None;
        if state.flight.is_none() && may_fetch {
            let (end, flight) = watch::channel(());
            state.flight = Some(flight);
            state.attempted = Some(self.clock.now());
            new = Some(Flight {
                shared: Arc::clone(self),
                result: None,
                _end: end,
            });
        }
        Joined {
            flight: state.flight.clone(),
            new,
        }
    }
}

/// The fetch that a caller waits for.
struct Joined<T: Send + Sync + 'static> {
    flight: Option<watch::Receiver<()>>,
    /// The fetch, if it has to be started.
    new: Option<Flight<T>>,
}

impl<T: Send + Sync + 'static> Joined<T> {
    /// Starts a new fetch. The caller has released the state: a runtime that shuts down drops the fetch at once, and its end
    /// locks the state.
    fn start(self) -> Option<watch::Receiver<()>> {
        if let Some(new) = self.new {
            // A task of its own: a peer that hangs up neither ends the fetch nor loses its result for the others.
            tokio::spawn(new.run());
        }
        self.flight
    }
}

/// The fetch in progress. Its end is recorded also if the source panics.
struct Flight<T: Send + Sync + 'static> {
    shared: Arc<Shared<T>>,
    result: Option<Fetched<T>>,
    /// Dropped after the result was recorded.
    _end: watch::Sender<()>,
}

impl<T: Send + Sync + 'static> Flight<T> {
    async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        match shared.source.fetch().await {
            Ok(fetched) => self.result = Some(fetched),
            Err(error) => tracing::warn!(source = ?shared.source, %error, "a fetch failed"),
        }
    }
}

impl<T: Send + Sync + 'static> Drop for Flight<T> {
    fn drop(&mut self) {
        let now = self.shared.clock.now();
        let mut state = self.shared.state();
        state.flight = None;
        state.has_failed = self.result.is_none();
        if let Some(fetched) = self.result.take() {
            state.current = Some(Current {
                value: Arc::new(fetched.value),
                fresh_until: now + fetched.lifetime,
                fetched: now,
            });
        }
    }
}

impl<T> State<T> {
    /// Lets requests no longer wait for the fetch in progress, if there is one.
    fn note_delay(&mut self) {
        self.has_failed |= self.flight.is_some();
    }

    fn is_attempt_older(&self, duration: Duration, now: SystemTime) -> bool {
        self.attempted
            .is_none_or(|attempted| has_passed(attempted, duration, now))
    }

    /// Returns the current value, unless it is `known`.
    fn other_than(&self, known: &Arc<T>) -> Option<Arc<T>> {
        let current = self.current.as_ref().map(|it| &it.value);
        current.filter(|it| !Arc::ptr_eq(it, known)).cloned()
    }
}

impl<T> Current<T> {
    /// Returns true within the lifetime. A clock that was set back ends it.
    fn is_fresh(&self, now: SystemTime) -> bool {
        (self.fetched..self.fresh_until).contains(&now)
    }

    fn is_usable(&self, now: SystemTime) -> bool {
        now < self.fresh_until + STALE
    }
}

/// Returns true if `duration` has passed since `start`, or the clock was set back before it.
fn has_passed(start: SystemTime, duration: Duration, now: SystemTime) -> bool {
    now.duration_since(start)
        .map_or(true, |passed| passed >= duration)
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(formatter)
    }
}
