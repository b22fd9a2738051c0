//! Faults of a simulation.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::random::Random;

/// Faults of a run: their probabilities and numbers. The seed decides when and where they happen.
///
/// [`Faults::default`] has some of everything. In each run, the seed also disables about a third of the kinds, because a rare
/// combination is often found only without the noise of the other faults; see [`Faults::all_at_once`].
///
/// ```
/// use treenail::sim::Faults;
///
/// let faults = Faults::none().drops(0.2).kills(2);
/// # let _ = faults;
/// ```
#[derive(Clone, Debug)]
#[must_use = "faults are for a simulation"]
pub struct Faults {
    pub(crate) latency: RangeInclusive<u64>,
    pub(crate) drops: f64,
    pub(crate) slow_readers: f64,
    pub(crate) duplicates: f64,
    pub(crate) kills: u32,
    pub(crate) restarts: u32,
    pub(crate) pauses: u32,
    pub(crate) partitions: u32,
    pub(crate) clock_jumps: u32,
    pub(crate) bus_failures: f64,
    pub(crate) store_failures: f64,
    pub(crate) within: u64,
    vary: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            latency: 1..=40,
            drops: 0.15,
            slow_readers: 0.1,
            duplicates: 0.05,
            kills: 2,
            restarts: 1,
            pauses: 2,
            partitions: 2,
            clock_jumps: 2,
            bus_failures: 0.05,
            store_failures: 0.05,
            within: 20_000,
            vary: true,
        }
    }
}

impl Faults {
    /// Creates a set without faults. Messages take 1 ms. After a quiet time, the first one takes up to 256 ms, the longest step in which
    /// a process runs ahead of the others.
    pub fn none() -> Self {
        Self {
            latency: 1..=1,
            drops: 0.0,
            slow_readers: 0.0,
            duplicates: 0.0,
            kills: 0,
            restarts: 0,
            pauses: 0,
            partitions: 0,
            clock_jumps: 0,
            bus_failures: 0.0,
            store_failures: 0.0,
            within: 20_000,
            vary: false,
        }
    }

    /// Sets the least and the greatest delay of a message. Default 1 to 40 ms.
    pub fn latency(mut self, range: RangeInclusive<Duration>) -> Self {
        // A connection without delay would let two processes act at the same time.
        let least = millis(*range.start()).max(1);
        self.latency = least..=millis(*range.end()).max(least);
        self
    }

    /// Sets the probability that a connection is dropped, within its first three seconds. Often only one side notices at once.
    pub fn drops(mut self, probability: f64) -> Self {
        self.drops = probability;
        self
    }

    /// Sets the probability that the client of a connection reads slowly: a few hundred bytes at a time.
    pub fn slow_readers(mut self, probability: f64) -> Self {
        self.slow_readers = probability;
        self
    }

    /// Sets the probability that a proxy on the way sends an HTTP request twice, as after an apparent failure. The client sees the
    /// second response.
    pub fn duplicates(mut self, probability: f64) -> Self {
        self.duplicates = probability;
        self
    }

    /// Sets the maximum number of crashes of replicas. A crashed replica starts again after at most five seconds.
    pub fn kills(mut self, most: u32) -> Self {
        self.kills = most;
        self
    }

    /// Sets the maximum number of restarts of replicas: the server [closes](treenail_runtime::Server::close), and its process ends up
    /// to three seconds later.
    pub fn restarts(mut self, most: u32) -> Self {
        self.restarts = most;
        self
    }

    /// Sets the maximum number of pauses of replicas, of at most 15 seconds. All timers that elapsed in a pause fire at its end.
    pub fn pauses(mut self, most: u32) -> Self {
        self.pauses = most;
        self
    }

    /// Sets the maximum number of partitions, of at most ten seconds: between a client, or the task store, and a replica.
    pub fn partitions(mut self, most: u32) -> Self {
        self.partitions = most;
        self
    }

    /// Sets the maximum number of jumps of the time of day of one process, by at most an hour in either direction.
    pub fn clock_jumps(mut self, most: u32) -> Self {
        self.clock_jumps = most;
        self
    }

    /// Sets the probability that a publication on the event bus breaks the connection of its replica.
    pub fn bus_failures(mut self, probability: f64) -> Self {
        self.bus_failures = probability;
        self
    }

    /// Sets the probability that an operation of the task store fails. Half of the failed changes were made all the same.
    pub fn store_failures(mut self, probability: f64) -> Self {
        self.store_failures = probability;
        self
    }

    /// Sets the time from the start in which kills, restarts, pauses, partitions and clock jumps happen. Default 20 s. Those that are due
    /// after the work of all clients has ended do not happen, so clients should work as long: see [`Report::faults`](crate::Report::faults).
    pub fn within(mut self, time: Duration) -> Self {
        self.within = millis(time).max(1);
        self
    }

    /// Uses all kinds in every run, in place of a selection that depends on the seed.
    pub fn all_at_once(mut self) -> Self {
        self.vary = false;
        self
    }

    /// Returns the faults of one run.
    pub(crate) fn of_run(&self, random: &mut Random) -> Self {
        let mut faults = self.clone();
        let mut is_disabled = || self.vary && random.chance(0.35);
        for probability in [
            &mut faults.drops,
            &mut faults.slow_readers,
            &mut faults.duplicates,
            &mut faults.bus_failures,
            &mut faults.store_failures,
        ] {
            if is_disabled() {
                *probability = 0.0;
            }
        }
        for most in [
            &mut faults.kills,
            &mut faults.restarts,
            &mut faults.pauses,
            &mut faults.partitions,
            &mut faults.clock_jumps,
        ] {
            if is_disabled() {
                *most = 0;
            }
        }
        if is_disabled() {
            faults.latency = *self.latency.start()..=*self.latency.start();
        }
        faults
    }

    /// Ends the faults of new connections and operations.
    pub(crate) fn end(&mut self) {
        *self = Self::none();
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
