//! Files that a server writes when it starts, beside its sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

/// Maximum time from a build to a change that it may have caused.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Number of such changes in a row that make a file an output. Nobody saves a source so often in so short a time.
const MAX_CHANGES: u32 = 10;

/// Times at which a build has started and ended. The server starts at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildTimes {
    pub(super) started: Instant,
    pub(super) ended: Instant,
}

impl BuildTimes {
    /// Returns true if the build or its server may have caused a change. During a long build, sources are edited.
    fn may_cause(self, changed: Instant) -> bool {
        let is_soon = |start: Instant| changed >= start && changed < start + MAX_DELAY;
        is_soon(self.started) || is_soon(self.ended)
    }
}

/// Numbers of changes that builds may have caused, without any other change between them.
#[derive(Debug, Default)]
pub(super) struct Outputs(HashMap<PathBuf, u32>);

impl Outputs {
    /// Counts a change. Returns true if the file is an output.
    pub(super) fn count(&mut self, path: &Path, changed: Instant, build: BuildTimes) -> bool {
        if !build.may_cause(changed) {
            self.0.clear();
            return false;
        }
        let count = self.0.entry(path.to_owned()).or_default();
        *count += 1;
        *count >= MAX_CHANGES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a file is an output after `count` changes, in seconds after builds that end after `end` seconds.
    fn is_output(end: u64, changed: u64, count: u32) -> bool {
        let (started, mut outputs) = (Instant::now(), Outputs::default());
        let after = |seconds| started + Duration::from_secs(seconds);
        let ended = after(end);
        let build = BuildTimes { started, ended };
        let counted = (0..count).map(|_| outputs.count(Path::new("a"), after(changed), build));
        counted.last().unwrap()
    }

    #[test]
    fn a_file_that_changes_after_each_build_is_an_output() {
        for (end, changed, count, expected) in [
            (0, 1, 10, true),
            (0, 1, 9, false),
            (0, 2, 10, false),
            (9, 1, 10, true),
            (9, 10, 10, true),
            (9, 5, 10, false),
        ] {
            let found = is_output(end, changed, count);
            assert_eq!(found, expected, "{end} {changed} {count}");
        }
    }

    #[test]
    fn files_are_counted_apart_until_a_person_changes_one() {
        let (started, mut outputs) = (Instant::now(), Outputs::default());
        let build = BuildTimes {
            started,
            ended: started,
        };
        let mut count = |name: &str, seconds| {
            let changed = started + Duration::from_secs(seconds);
            outputs.count(Path::new(name), changed, build)
        };
        for _ in 0..9 {
            assert!(!count("a", 0));
            assert!(!count("b", 0));
        }
        assert!(count("a", 0));
        assert!(!count("source", 60));
        assert!(!count("b", 0));
    }
}
