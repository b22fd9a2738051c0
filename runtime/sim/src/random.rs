//! Random numbers from a seed.

use std::ops::RangeInclusive;

/// Generator of the algorithm `SplitMix64`. It is for simulations, not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator whose numbers depend on `seed` and on `stream` only.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        // Similar seeds start at unrelated states.
        random.0 = random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if there is none.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let number = self.next();
        // The bias is far below that of any fault.
        number.checked_rem(end).unwrap_or(0)
    }

    /// Returns a number within `range`.
    pub(crate) fn within(&mut self, range: &RangeInclusive<u64>) -> u64 {
        let length = range.end().saturating_sub(*range.start());
        range.start() + self.below(length.saturating_add(1))
    }

    /// Returns `true` with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        // 32 bits are exact in a `f64`.
        let number = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(number) < probability * 4_294_967_296.0
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_depend_on_seed_and_stream_only() {
        let three = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(three(7, 1), three(7, 1));
        assert_ne!(three(7, 1), three(8, 1));
        assert_ne!(three(7, 1), three(7, 2));
    }

    #[test]
    fn chances_are_near_their_probability() {
        let mut random = Random::new(1, 1);
        let hits = (0..10_000).filter(|_| random.chance(0.25)).count();
        assert!((2_300..2_700).contains(&hits), "{hits}");
        assert!(!random.chance(0.0) && random.chance(1.0));
        assert!((0..100).all(|_| (3..=5).contains(&random.within(&(3..=5)))));
    }
}
