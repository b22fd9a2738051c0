//! Places of the tasks that wait for an answer, with a share for each owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Part of the places that one owner may have.
const SHARE: usize = 4;

/// Places of the tasks of a process that wait for an answer.
#[derive(Debug)]
pub(crate) struct Waiting {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// The number of each owner that has any.
    owners: HashMap<Box<str>, usize>,
}

/// Place of one task. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    waiting: Arc<Waiting>,
    owner: Box<str>,
}

/// Reason why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    InProcess,
    OfOwner,
}

impl Waiting {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            taken: Mutex::default(),
        }
    }

    /// Takes a place for a task of `owner`.
    pub(crate) fn take(self: &Arc<Self>, owner: &str) -> Result<Place, NoPlace> {
        let mut taken = self.taken();
        let its = taken.owners.get(owner).copied().unwrap_or_default();
        if taken.all >= self.most {
            return Err(NoPlace::InProcess);
        }
        if its >= (self.most / SHARE).max(1) {
            return Err(NoPlace::OfOwner);
        }
        taken.all += 1;
        taken.owners.insert(owner.into(), its + 1);
        drop(taken);
        Ok(Place {
            waiting: Arc::clone(self),
            owner: owner.into(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.waiting.taken();
        taken.all = taken.all.saturating_sub(1);
        let left = taken.owners.get(&self.owner).copied().unwrap_or_default();
        if left > 1 {
            taken
                .owners
                .insert(std::mem::take(&mut self.owner), left - 1);
        } else {
            taken.owners.remove(&self.owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_has_a_quarter_of_the_places() {
        let waiting = Arc::new(Waiting::new(8));
        let mut places: Vec<_> = (0..2).map(|_| waiting.take("alice").unwrap()).collect();
        assert_eq!(waiting.take("alice").unwrap_err(), NoPlace::OfOwner);
        for owner in ["bob", "carol", ""] {
            places.extend((0..2).map(|_| waiting.take(owner).unwrap()));
        }
        assert_eq!(waiting.take("dave").unwrap_err(), NoPlace::InProcess);
        places.remove(0);
        places.push(waiting.take("alice").unwrap());
        drop(places);
        let taken = waiting.taken();
        assert_eq!(taken.all, 0);
        assert!(taken.owners.is_empty(), "{taken:?}");
    }

    #[test]
    fn an_owner_has_one_place_if_there_are_few() {
        let waiting = Arc::new(Waiting::new(2));
        let _place = waiting.take("alice").unwrap();
        assert_eq!(waiting.take("alice").unwrap_err(), NoPlace::OfOwner);
        let _other = waiting.take("bob").unwrap();
        let none = Arc::new(Waiting::new(0));
        assert_eq!(none.take("alice").unwrap_err(), NoPlace::InProcess);
    }
}
