//! Chance, so that clients that have lost the same server do not all come back at once.

use std::hash::{BuildHasher, RandomState};

/// A number between 0 and 1 that differs between clients.
pub fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
