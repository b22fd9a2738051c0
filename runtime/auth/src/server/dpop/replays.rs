//! Memory of used DPoP proofs.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, ready};
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
const CAPACITY: usize = 100_000;

/// Time between two searches for expired proofs.
const SWEEP: Duration = Duration::from_secs(1);

/// Memory of one process.
#[derive(Default)]
pub(super) struct MemoryReplays(Mutex<Used>);

#[derive(Default)]
struct Used {
    /// The end of validity of each proof.
    proofs: HashMap<Box<str>, SystemTime>,
    /// The time of the last search for expired proofs.
    swept: Option<SystemTime>,
}

impl fmt::Debug for MemoryReplays {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryReplays")
            .finish_non_exhaustive()
    }
}

impl MemoryReplays {
    fn insert_now(
        &self,
        id: &str,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<bool, AuthError> {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.proofs.contains_key(id) {
            return Ok(false);
        }
        if used.proofs.len() >= CAPACITY && used.swept.is_none_or(|swept| now >= swept + SWEEP) {
            used.proofs.retain(|_, expires_at| *expires_at >= now);
            used.swept = Some(now);
        }
        // Only holders of valid tokens get here, so a full memory is no work of strangers.
        if used.proofs.len() >= CAPACITY {
            return Err(AuthError::Unavailable("too many proofs are in use".into()));
        }
        used.proofs.insert(id.into(), expires_at);
        Ok(true)
    }
}

impl ReplayStore for MemoryReplays {
    fn insert<'a>(
        &'a self,
        id: &'a str,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> ReplayFuture<'a> {
        Box::pin(ready(self.insert_now(id, expires_at, now)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn memory_is_bounded_and_forgets_expired_proofs() {
        let replays = MemoryReplays::default();
        let end = UNIX_EPOCH + Duration::from_secs(300);
        for number in 0..CAPACITY {
            let id = number.to_string();
            assert!(replays.insert_now(&id, end, UNIX_EPOCH).unwrap());
        }
        assert!(
            !replays.insert_now("0", end, UNIX_EPOCH).unwrap(),
            "AUTH-R-64"
        );
        assert!(replays.insert_now("new", end, UNIX_EPOCH).is_err());
        let later = end + Duration::from_secs(1);
        assert!(replays.insert_now("new", later, later).unwrap());
    }

    #[tokio::test]
    async fn a_store_can_be_shared() {
        async fn insert(store: impl ReplayStore) -> bool {
            store.insert("x", UNIX_EPOCH, UNIX_EPOCH).await.unwrap()
        }
        let shared: Arc<dyn ReplayStore> = Arc::new(MemoryReplays::default());
        assert!(insert(Arc::clone(&shared)).await);
        assert!(!insert(shared).await);
    }
}
