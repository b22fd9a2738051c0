//! Outcome of a run.

use std::fmt;
use std::time::Duration;

use crate::transcript::Transcript;

/// Lines of the transcript in the message of a failed run.
const TAIL: usize = 150;

/// Outcome of a run: the broken rules, and the transcript.
#[derive(Clone, Debug)]
#[must_use = "a report may contain broken rules"]
pub struct Report {
    pub(crate) seed: u64,
    pub(crate) violations: Vec<String>,
    pub(crate) transcript: Transcript,
    pub(crate) faults: u64,
    pub(crate) elapsed: u64,
}

impl Report {
    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the broken rules and failed assertions, in the order of their occurrence.
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    /// Returns the transcript.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the number of kills, restarts, pauses, partitions and clock jumps that have happened. Those that are due after the work of
    /// all clients has ended do not happen.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Returns the virtual time that has passed.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed)
    }

    /// Panics with the broken rules and the end of the transcript, if there are any.
    ///
    /// # Panics
    ///
    /// If rules were broken.
    #[track_caller]
    pub fn assert_ok(&self) {
        assert!(self.violations.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, elapsed, .. } = self;
        writeln!(
            formatter,
            "seed {seed}, {} s of virtual time",
            elapsed / 1_000
        )?;
        formatter.write_str(&self.transcript.tail(TAIL))?;
        for violation in &self.violations {
            writeln!(formatter, "- {violation}")?;
        }
        Ok(())
    }
}
