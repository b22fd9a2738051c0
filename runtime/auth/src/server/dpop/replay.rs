//! Memory of proofs, so that each is accepted once.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::AuthError;

/// A future of a [`ReplayStore`].
pub type ReplayFuture<'a> = Pin<Box<dyn Future<Output = Result<bool, AuthError>> + Send + 'a>>;

/// Memory of accepted DPoP proofs. A store that replicas share refuses a replay at any of them.
#[cfg(feature = "server")]
pub trait ReplayStore: Send + Sync + 'static {
    /// Remembers a proof until `until`, at most 10 minutes after `now`. Returns true if it was unknown.
    ///
    /// `id` is a hash. Of concurrent calls with one `id`, exactly one returns true. On an error the request is refused with
    /// status 503.
    fn remember(&self, id: [u8; 32], now: SystemTime, until: SystemTime) -> ReplayFuture<'_>;
}

/// Memory of the proofs of one process.
///
/// If it is full of proofs that have not expired, requests with proofs are refused with status 503.
#[cfg(feature = "server")]
pub struct MemoryReplayStore {
    capacity: usize,
    proofs: Mutex<Proofs>,
}

#[derive(Default)]
struct Proofs {
    known: HashSet<[u8; 32]>,
    by_expiry: BTreeSet<(SystemTime, [u8; 32])>,
}

impl MemoryReplayStore {
    /// Returns a memory of 131,072 proofs (16 MiB): 436 requests per second.
    pub fn new() -> Self {
        Self::with_capacity(1 << 17)
    }

    /// Returns a memory of `capacity` proofs, of about 128 bytes each.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            capacity,
            proofs: Mutex::default(),
        }
    }
}

impl Default for MemoryReplayStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ReplayStore for MemoryReplayStore {
    fn remember(&self, id: [u8; 32], now: SystemTime, until: SystemTime) -> ReplayFuture<'_> {
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        proofs.forget_expired(now);
        let result = if proofs.known.contains(&id) {
            Ok(false)
        } else if proofs.known.len() >= self.capacity {
            Err(AuthError::Unavailable(
                "the memory of DPoP proofs is full; give `MemoryReplayStore` a larger capacity"
                    .into(),
            ))
        } else {
            proofs.by_expiry.insert((until, id));
            Ok(proofs.known.insert(id))
        };
        Box::pin(std::future::ready(result))
    }
}

impl Proofs {
    fn forget_expired(&mut self, now: SystemTime) {
        while let Some((until, id)) = self.by_expiry.first().copied() {
            if until >= now {
                break;
            }
            self.by_expiry.remove(&(until, id));
            self.known.remove(&id);
        }
    }
}

impl fmt::Debug for MemoryReplayStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryReplayStore")
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
