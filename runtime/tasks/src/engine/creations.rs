//! Tasks that are being created, for each owner: the usage of its stored tasks may not count them yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::TaskLimits;
use crate::store::StoreUsage;

/// Tasks that this process creates.
#[derive(Debug, Default)]
pub(crate) struct Creations {
    owners: Mutex<HashMap<Box<str>, Counters>>,
}

/// Counters of an owner with any [`Creation`]. They are dropped with the last one.
#[derive(Debug, Default)]
struct Counters {
    creations: usize,
    /// All tasks that were admitted.
    admitted: StoreUsage,
    /// Those of them whose creation has ended. A store counts each that it has.
    ended: StoreUsage,
}

/// Creation of one task. It has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Creation {
    creations: Arc<Creations>,
    owner: Box<str>,
    /// The creations that had ended before this one started.
    ended: StoreUsage,
    /// This task, once it is admitted.
    task: StoreUsage,
}

impl Creations {
    /// Starts the creation of a task, before the usage of its owner is read.
    pub(crate) fn start(self: &Arc<Self>, owner: &str) -> Creation {
        let mut owners = self.owners();
        let counters = owners.entry(owner.into()).or_default();
        counters.creations += 1;
        let ended = counters.ended;
        drop(owners);
        Creation {
            creations: Arc::clone(self),
            owner: owner.into(),
            ended,
            task: StoreUsage::default(),
        }
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<Box<str>, Counters>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Creation {
    /// Admits the task of `bytes` if its owner may have one more. `usage` was read after the start.
    ///
    /// The tasks that were admitted by then and had not ended at the start count beside it. Those that were stored before the usage was
    /// read count twice, since the store does not say which these are.
    ///
    /// # Errors
    ///
    /// The usage of an owner with too many tasks.
    pub(crate) fn admit(
        &mut self,
        usage: StoreUsage,
        bytes: u64,
        limits: &TaskLimits,
    ) -> Result<(), StoreUsage> {
        let mut owners = self.creations.owners();
        let counters = owners.entry(self.owner.clone()).or_default();
        let used = StoreUsage {
            tasks: usage
                .tasks
                .saturating_add(counters.admitted.tasks - self.ended.tasks),
            bytes: usage
                .bytes
                .saturating_add(counters.admitted.bytes - self.ended.bytes),
        };
        let most = u64::try_from(limits.tasks_per_owner).unwrap_or(u64::MAX);
        if used.tasks >= most || used.bytes >= limits.bytes_per_owner {
            return Err(used);
        }
        self.task = StoreUsage::new(1, bytes);
        counters.admitted = sum(counters.admitted, self.task);
        Ok(())
    }
}

impl Drop for Creation {
    fn drop(&mut self) {
        let mut owners = self.creations.owners();
        if let Some(counters) = owners.get_mut(&self.owner) {
            counters.creations -= 1;
            counters.ended = sum(counters.ended, self.task);
            if counters.creations == 0 {
                owners.remove(&self.owner);
            }
        }
    }
}

fn sum(one: StoreUsage, other: StoreUsage) -> StoreUsage {
    StoreUsage::new(one.tasks + other.tasks, one.bytes + other.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_the_usage_may_miss_count_beside_it() {
        let creations = Arc::new(Creations::default());
        let limits = TaskLimits::default()
            .tasks_per_owner(2)
            .bytes_per_owner(100);
        let none = StoreUsage::default();
        let [mut first, mut second, mut third, mut fourth] =
            [(); 4].map(|()| creations.start("alice"));
        assert_eq!(first.admit(none, 10, &limits), Ok(()));
        assert_eq!(second.admit(none, 10, &limits), Ok(()));
        let full = StoreUsage::new(2, 20);
        assert_eq!(third.admit(none, 10, &limits), Err(full));
        // Its usage was read before the others were stored.
        drop((first, second));
        assert_eq!(fourth.admit(none, 10, &limits), Err(full));
        // They are a part of a usage that is read now, until they are removed.
        let mut later = creations.start("alice");
        assert_eq!(later.admit(full, 10, &limits), Err(full));
        assert_eq!(later.admit(StoreUsage::new(1, 99), 10, &limits), Ok(()));
        assert_eq!(creations.start("bob").admit(none, 10, &limits), Ok(()));
        drop((third, fourth, later));
        assert!(creations.owners().is_empty());
    }

    #[test]
    fn the_size_of_tasks_counts_too() {
        let creations = Arc::new(Creations::default());
        let limits = TaskLimits::default().bytes_per_owner(100);
        let none = StoreUsage::default();
        let [mut first, mut second] = [(); 2].map(|()| creations.start(""));
        assert_eq!(first.admit(none, 100, &limits), Ok(()));
        assert_eq!(second.admit(none, 1, &limits), Err(StoreUsage::new(1, 100)));
    }
}
