//! Exponential backoff with jitter, for everything that retries.

use std::time::Duration;

use crate::environment::fill_random;

/// Delays between retries: each is twice the one before, up to a maximum.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Delay after the first failure.
    pub initial: Duration,
    /// Maximum delay.
    pub max: Duration,
}

impl Backoff {
    /// Returns the delay after this many failures in a row, without jitter.
    pub fn delay(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        self.initial.saturating_mul(1 << doublings).min(self.max)
    }

    /// Returns the delay after this many failures in a row. Half of it is scaled by `jitter`, between 0 and 1.
    pub fn delay_with_jitter(&self, failures: u32, jitter: f64) -> Duration {
        let half = self.delay(failures) / 2;
        half + half.mul_f64(jitter)
    }

    /// Returns the delay after this many failures in a row. Half of it is random.
    pub(crate) fn jittered_delay(&self, failures: u32) -> Duration {
        self.delay_with_jitter(failures, jitter())
    }
}

/// Returns a random number between 0 and 1, so that clients that lost the same server do not all reconnect at once.
pub fn jitter() -> f64 {
    let mut bytes = [0; 4];
    // Without random bytes, the whole delay is fixed.
    let _ = fill_random(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_maximum() {
        let backoff = Backoff {
            initial: Duration::from_secs(1),
            max: Duration::from_secs(5),
        };
        let delays = [0, 1, 2, 3, 4, u32::MAX].map(|failures| backoff.delay(failures).as_secs());
        assert_eq!(delays, [1, 1, 2, 4, 5, 5]);
    }

    #[test]
    fn half_of_a_jittered_delay_is_fixed() {
        let backoff = Backoff {
            initial: Duration::from_secs(2),
            max: Duration::from_secs(2),
        };
        for _ in 0..100 {
            let delay = backoff.jittered_delay(1);
            assert!((1.0..=2.0).contains(&delay.as_secs_f64()), "{delay:?}");
        }
    }
}
