//! Hasher for request ids.

use std::hash::Hasher;

/// Fast hasher for request ids. The client chooses the ids, so a server cannot cause collisions.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Multiplier of Fibonacci hashing: 2^64 divided by the golden ratio.
        self.0 = (self.0 ^ number)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(26);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(u64::from_ne_bytes(number.to_ne_bytes()));
    }
}
