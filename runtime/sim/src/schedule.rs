//! Faults at certain times.

use crate::faults::Faults;
use crate::options::Options;
use crate::random::Random;

/// Maximum time for which a crashed replica is down, in milliseconds.
const MAX_DOWN: u64 = 5_000;
/// Maximum time of a graceful shutdown.
const MAX_GRACE: u64 = 3_000;
const MAX_PAUSE: u64 = 15_000;
const MAX_PARTITION: u64 = 10_000;
/// Maximum jump of the time of day.
const MAX_JUMP: u64 = 3_600_000;

/// Something that the engine does to a process. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Ends a replica at once, and starts it again after `down`.
    Kill {
        replica: usize,
        down: u64,
    },
    /// Closes the server of a replica, and kills it after `grace`.
    Close {
        replica: usize,
        grace: u64,
    },
    /// Starts a replica that is down.
    Boot {
        replica: usize,
    },
    Pause {
        replica: usize,
        time: u64,
    },
    /// Separates a replica from a client, or from the task store.
    Partition {
        client: Option<usize>,
        replica: usize,
        time: u64,
    },
    Jump {
        replica: usize,
        by: i64,
    },
}

/// Draws the faults of a run, with their times.
pub(crate) fn plan(faults: &Faults, options: &Options, random: &mut Random) -> Vec<(u64, Action)> {
    let mut actions = Vec::new();
    let (replicas, clients) = (options.replicas as u64, options.clients as u64);
    let mut add = |most: u32, action: &dyn Fn(&mut Random, usize) -> Action| {
        for _ in 0..random.below(u64::from(most) + 1) {
            let time = random.below(faults.within);
            let replica = usize::try_from(random.below(replicas)).unwrap_or(0);
            actions.push((time, action(random, replica)));
        }
    };
    add(faults.kills, &|random, replica| Action::Kill {
        replica,
        down: 50 + random.below(MAX_DOWN),
    });
    add(faults.restarts, &|random, replica| Action::Close {
        replica,
        grace: 50 + random.below(MAX_GRACE),
    });
    add(faults.pauses, &|random, replica| Action::Pause {
        replica,
        time: 100 + random.below(MAX_PAUSE),
    });
    add(faults.partitions, &|random, replica| {
        let client = random.below(clients + 1);
        Action::Partition {
            // The last number is that of the task store.
            client: usize::try_from(client).ok().filter(|_| client < clients),
            replica,
            time: 100 + random.below(MAX_PARTITION),
        }
    });
    add(faults.clock_jumps, &|random, replica| {
        let by = i64::try_from(random.below(2 * MAX_JUMP)).unwrap_or(0);
        let by = by - i64::try_from(MAX_JUMP).unwrap_or(0);
        Action::Jump { replica, by }
    });
    actions
}
