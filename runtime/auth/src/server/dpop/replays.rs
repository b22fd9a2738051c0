//! Memory of used DPoP proofs.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::AuthError;

/// Future of a [`ReplayStore`].
#[cfg(feature = "authorization")]
pub type ReplayFuture<'a> = Pin<Box<dyn Future<Output = Result<bool, AuthError>> + Send + 'a>>;

/// Memory of the DPoP proofs that were used, so that each is accepted once, see
/// [`Dpop::replay_store`](crate::Dpop::replay_store).
#[cfg(feature = "authorization")]
pub trait ReplayStore: Send + Sync + 'static {
    /// Stores the id of a proof, 43 characters, until `expires_at`. Returns false if it is stored already.
    ///
    /// The request is refused if the store fails, and its client tries again.
    fn insert<'a>(
        &'a self,
        id: &'a str,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> ReplayFuture<'a>;
}

impl<S: ReplayStore + ?Sized> ReplayStore for Arc<S> {
    fn insert<'a>(
        &'a self,
        id: &'a str,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> ReplayFuture<'a> {
        (**self).insert(id, expires_at, now)
    }
}

/// Maximum number of proofs in memory.
const CAPACITY: usize = 400_000;

/// Maximum number of proofs of one key, so that one key cannot use all places: 333 requests per second, for the 5 minutes
/// after which a proof expires.
const CAPACITY_OF_KEY: usize = 100_000;

/// Time between two searches for expired proofs.
const SWEEP_ALL: Duration = Duration::from_secs(300);

/// The same time while the memory is full.
const SWEEP: Duration = Duration::from_secs(1);

/// Length of a stored id: 132 bits of its digest.
const ID: usize = 22;

/// Memory of one process.
#[derive(Default)]
pub(super) struct MemoryReplays(Mutex<Used>);

#[derive(Default)]
struct Used {
    /// The end of validity of each proof, by the thumbprint of its key.
    by_key: HashMap<Box<str>, HashMap<[u8; ID], SystemTime>>,
    /// The number of all proofs.
    count: usize,
    /// The time of the last search for expired proofs.
    swept: Option<SystemTime>,
}

impl Used {
    fn is_full(&self, key: &str) -> bool {
        let of_key = self.by_key.get(key).map_or(0, HashMap::len);
        self.count >= CAPACITY || of_key >= CAPACITY_OF_KEY
    }

    /// Returns true if the last search was this long ago, or the clock was set back before it.
    fn is_due(&self, now: SystemTime, interval: Duration) -> bool {
        self.swept
            .is_none_or(|swept| now < swept || now >= swept + interval)
    }

    fn sweep(&mut self, now: SystemTime) {
        self.count = 0;
        self.by_key.retain(|_, proofs| {
            proofs.retain(|_, expires_at| *expires_at >= now);
            proofs.shrink_to(proofs.len() * 2);
            self.count += proofs.len();
            !proofs.is_empty()
        });
        self.swept = Some(now);
    }
}

impl MemoryReplays {
    /// Stores the id of a proof of `key`, as [`ReplayStore::insert`] does.
    pub(super) fn insert(
        &self,
        key: &str,
        id: &str,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<bool, AuthError> {
        let Some(id) = id.as_bytes().first_chunk::<ID>() else {
            return Err(AuthError::Invalid("the id of a proof is too short".into()));
        };
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used
            .by_key
            .get(key)
            .is_some_and(|proofs| proofs.contains_key(id))
        {
            return Ok(false);
        }
        if used.is_due(now, SWEEP_ALL) || (used.is_full(key) && used.is_due(now, SWEEP)) {
            used.sweep(now);
        }
        if used.is_full(key) {
            return Err(AuthError::Unavailable("too many proofs are in use".into()));
        }
        let proofs = used.by_key.entry(key.into()).or_default();
        proofs.insert(*id, expires_at);
        used.count += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn memory_is_bounded_and_forgets_expired_proofs() {
        let replays = MemoryReplays::default();
        let end = UNIX_EPOCH + Duration::from_secs(300);
        let insert = |key: &str, number: usize, end, now| {
            replays.insert(
                key,
                &format!("{number:043}").chars().rev().collect::<String>(),
                end,
                now,
            )
        };
        for number in 0..CAPACITY_OF_KEY {
            assert!(insert("one", number, end, UNIX_EPOCH).unwrap());
        }
        assert!(!insert("one", 0, end, UNIX_EPOCH).unwrap(), "AUTH-R-64");
        let new = CAPACITY_OF_KEY;
        assert!(insert("one", new, end, UNIX_EPOCH).is_err());
        for key in ["two", "three", "four"] {
            for number in 0..CAPACITY_OF_KEY {
                assert!(insert(key, number, end, UNIX_EPOCH).unwrap(), "{key}");
            }
        }
        assert!(insert("five", 0, end, UNIX_EPOCH).is_err());
        let later = end + Duration::from_secs(1);
        assert!(insert("five", 0, later, later).unwrap());
        assert!(insert("one", new, later, later).unwrap());
    }

    #[test]
    fn a_proof_is_not_forgotten_at_the_end_of_its_validity() {
        let replays = MemoryReplays::default();
        let end = UNIX_EPOCH + SWEEP_ALL;
        let insert = |id: &str, now| replays.insert("one", &id.repeat(43), end, now).unwrap();
        assert!(insert("a", UNIX_EPOCH));
        // It causes a search.
        assert!(insert("b", end));
        assert!(!insert("a", end), "AUTH-R-64: it is still valid");
    }

    #[test]
    fn proofs_are_forgotten_after_the_clock_was_set_back() {
        let replays = MemoryReplays::default();
        let end = |now| now + Duration::from_secs(300);
        let insert = |number: usize, now| {
            let id = format!("{number:043}").chars().rev().collect::<String>();
            replays.insert("one", &id, end(now), now)
        };
        let tomorrow = UNIX_EPOCH + Duration::from_secs(24 * 3600);
        assert!(insert(0, tomorrow).unwrap());
        for number in 1..CAPACITY_OF_KEY {
            assert!(insert(number, UNIX_EPOCH).unwrap());
        }
        assert!(insert(CAPACITY_OF_KEY, UNIX_EPOCH).is_err());
        let later = end(UNIX_EPOCH) + Duration::from_secs(1);
        assert!(insert(CAPACITY_OF_KEY, later).unwrap(), "AUTH-R-64");
    }

    #[tokio::test]
    async fn a_store_can_be_shared() {
        struct Once(Mutex<bool>);

        impl ReplayStore for Once {
            fn insert<'a>(&'a self, _: &'a str, _: SystemTime, _: SystemTime) -> ReplayFuture<'a> {
                let is_used = std::mem::replace(&mut *self.0.lock().unwrap(), true);
                Box::pin(ready(Ok(!is_used)))
            }
        }

        async fn insert(store: impl ReplayStore) -> bool {
            store.insert("x", UNIX_EPOCH, UNIX_EPOCH).await.unwrap()
        }
        let shared: Arc<dyn ReplayStore> = Arc::new(Once(Mutex::new(false)));
        assert!(insert(Arc::clone(&shared)).await);
        assert!(!insert(shared).await);
    }
}
