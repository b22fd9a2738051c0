//! Jitter, so that clients do not all reconnect to a restarted server at the same time.

use std::hash::{BuildHasher, RandomState};

/// Returns a random number between 0 and 1.
pub fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
