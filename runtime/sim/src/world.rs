//! State that all processes of a simulation share.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::bus::Inboxes;
use crate::faults::Faults;
use crate::host::{Host, HostClock};
use crate::network::Network;
use crate::options::Options;
use crate::random::Random;
use crate::schedule::Action;
use crate::transcript::Transcript;

thread_local! {
    static CURRENT: RefCell<Option<Arc<HostClock>>> = const { RefCell::new(None) };
}

/// Runs `action` as a part of the process with this clock.
pub(crate) fn within<T>(clock: &Arc<HostClock>, action: impl FnOnce() -> T) -> T {
    let before = CURRENT.replace(Some(Arc::clone(clock)));
    let output = action();
    CURRENT.set(before);
    output
}

/// Returns the process that runs on this thread.
pub(crate) fn current() -> Option<Arc<HostClock>> {
    // The thread may be ending.
    let current = CURRENT.try_with(|current| current.try_borrow().ok()?.clone());
    current.ok().flatten()
}

/// State that all processes of a simulation share.
pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) network: Network,
    pub(crate) inboxes: Inboxes,
    #[cfg(feature = "tasks")]
    pub(crate) jobs: crate::store::Jobs,
    /// End of the last fault that affects many connections.
    quiet_since: AtomicU64,
    /// Number of faults of processes that have happened.
    faults: AtomicU64,
    /// Virtual time of the engine in milliseconds.
    now: AtomicU64,
    /// Something happened since the engine last looked.
    active: AtomicBool,
    state: Mutex<State>,
}

struct State {
    faults: Faults,
    random: Random,
    transcript: Transcript,
    violations: Vec<String>,
    unanswered: Vec<Unanswered>,
    known: BTreeSet<String>,
    /// Times at which something arrives.
    arrivals: BinaryHeap<Reverse<u64>>,
    requested: Vec<Action>,
}

/// Request without a response at the end of its connection.
pub(crate) struct Unanswered {
    pub(crate) connection: Arc<str>,
    /// Its tool, or else its method.
    pub(crate) name: String,
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("World").finish_non_exhaustive()
    }
}

impl World {
    pub(crate) fn new(options: Options, faults: Faults, random: Random) -> Self {
        Self {
            network: Network::new(options.replicas),
            options,
            inboxes: Inboxes::default(),
            #[cfg(feature = "tasks")]
            jobs: crate::store::Jobs::default(),
            quiet_since: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            now: AtomicU64::new(0),
            active: AtomicBool::new(true),
            state: Mutex::new(State {
                faults,
                random,
                transcript: Transcript::default(),
                violations: Vec::new(),
                unanswered: Vec::new(),
                known: BTreeSet::new(),
                arrivals: BinaryHeap::new(),
                requested: Vec::new(),
            }),
        }
    }

    /// Returns the virtual time of the current process in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        let current = CURRENT.with_borrow(|current| current.as_ref().and_then(|host| host.now()));
        current.unwrap_or_else(|| self.engine_time())
    }

    pub(crate) fn engine_time(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn set_engine_time(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }

    /// Notes a fault that ends at `time`.
    pub(crate) fn disturbed_until(&self, time: u64) {
        self.quiet_since.fetch_max(time, Ordering::Relaxed);
    }

    /// Counts a fault of a process, or of the path between two of them.
    pub(crate) fn count_fault(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of faults that have happened.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// Returns the end of the last fault that affects many connections.
    pub(crate) fn quiet_since(&self) -> u64 {
        self.quiet_since.load(Ordering::Relaxed)
    }

    /// Adds a line to the transcript.
    pub(crate) fn log(&self, text: impl AsRef<str>) {
        self.log_at(self.now(), text.as_ref());
    }

    fn log_at(&self, time: u64, text: &str) {
        let host = CURRENT.with_borrow(Clone::clone);
        // The tasks of a process that ends have no order.
        if host.as_ref().is_some_and(|host| host.has_ended()) {
            return;
        }
        let name = host.as_ref().map_or("world", |host| host.name());
        self.lock().transcript.push(time, name, text);
    }

    /// Notes that a rule was broken. Equal texts are noted once.
    pub(crate) fn violation(&self, text: String) {
        self.violation_at(self.now(), text);
    }

    fn violation_at(&self, time: u64, text: String) {
        self.log_at(time, &format!("VIOLATION: {text}"));
        let mut state = self.lock();
        if state.known.insert(text.clone()) {
            state.violations.push(text);
        }
    }

    pub(crate) fn note_unanswered(&self, request: Unanswered) {
        self.lock().unanswered.push(request);
    }

    /// Returns the texts of the last requests without a response on the connections of a replica.
    pub(crate) fn last_unanswered(&self, replica: &str) -> Vec<String> {
        let side = format!(" to {replica})");
        let state = self.lock();
        let requests = state.unanswered.iter().rev();
        let requests = requests.filter(|request| request.connection.ends_with(&side));
        let text = |request: &Unanswered| {
            format!("`{}` on connection {}", request.name, request.connection)
        };
        requests.map(text).take(3).collect()
    }

    /// Notes the panic of a process.
    pub(crate) fn panicked(&self, host: &Host, panic: &str) {
        let name = host.clock.name();
        self.violation_at(self.time_of(host), format!("{name} panicked: {panic}"));
    }

    /// Returns the virtual time of a process, which may be ahead of the engine within a step.
    fn time_of(&self, host: &Host) -> u64 {
        let time = host.enter(|| host.clock.now()).flatten();
        time.unwrap_or_else(|| self.engine_time())
    }

    /// Notes that a process does not reach the end of a step within `limit` of real time.
    pub(crate) fn is_stuck(&self, host: &Host, limit: Duration) {
        let name = host.clock.name();
        self.violation(format!(
            "{name} made no progress for {limit:?} of real time: blocking work waits for something, or a task never does"
        ));
    }

    /// Draws from the random numbers of the network and the faults.
    pub(crate) fn draw<T>(&self, draw: impl FnOnce(&Faults, &mut Random) -> T) -> T {
        let mut state = self.lock();
        let state = &mut *state;
        draw(&state.faults, &mut state.random)
    }

    pub(crate) fn end_faults(&self) {
        let now = self.engine_time();
        self.quiet_since.fetch_min(now, Ordering::Relaxed);
        self.lock().faults.end();
    }

    /// Notes that something arrives at `time`.
    pub(crate) fn arrives(&self, time: u64) {
        self.active.store(true, Ordering::Relaxed);
        self.lock().arrivals.push(Reverse(time));
    }

    /// Returns the next time after `now` at which something arrives.
    pub(crate) fn next_arrival(&self, now: u64) -> Option<u64> {
        let mut state = self.lock();
        while let Some(Reverse(time)) = state.arrivals.peek() {
            if *time > now {
                return Some(*time);
            }
            state.arrivals.pop();
        }
        None
    }

    /// Returns `true` if something happened since the last call.
    pub(crate) fn take_activity(&self) -> bool {
        self.active.swap(false, Ordering::Relaxed)
    }

    /// Lets the engine perform an action.
    pub(crate) fn request(&self, action: Action) {
        self.lock().requested.push(action);
    }

    pub(crate) fn take_requests(&self) -> Vec<Action> {
        std::mem::take(&mut self.lock().requested)
    }

    pub(crate) fn take_result(&self) -> (Transcript, Vec<String>) {
        let mut state = self.lock();
        let violations = std::mem::take(&mut state.violations);
        (std::mem::take(&mut state.transcript), violations)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
