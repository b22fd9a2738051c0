//! Delays before a stream is requested again.

use std::time::Duration;

use treenail_http_client::sse::Position;
use treenail_runtime::internal;

/// Delay if the server has not set one with `retry`.
const DEFAULT_DELAY: Duration = Duration::from_secs(1);
/// Lower bound of the delay, even if the server sets a shorter one.
const MIN_DELAY: Duration = Duration::from_millis(100);
/// Upper bound of the exponential backoff. A longer `retry` of the server is still honored.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// A stream that lasted this long is not a failure, even without a message.
const HEALTHY_LIFETIME: Duration = MAX_DELAY;

/// Backoff between attempts to read a stream that lasts as long as its session.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
    /// True if the last attempt delivered a message.
    pub(crate) delivered: bool,
}

impl Backoff {
    /// Returns the delay after an attempt that lasted for `lifetime`.
    ///
    /// A stream that ends early without a message counts as a failure, even if it had other events. The exception is a
    /// server that sets a delay and sends new events: it expects the client to poll.
    pub(crate) fn next_delay(&mut self, position: &mut Position, lifetime: Duration) -> Duration {
        let polls = std::mem::take(&mut position.moved)
            && position.retry.is_some_and(|retry| retry >= DEFAULT_DELAY);
        self.failures = if self.delivered || polls || lifetime >= HEALTHY_LIFETIME {
            1
        } else {
            self.failures.saturating_add(1)
        };
        delay(position.retry, self.failures)
    }
}

/// Returns the delay before the next attempt, after `attempt` failures in a row: the delay that the server has set, doubled
/// after each further failure.
pub(crate) fn delay(retry: Option<Duration>, attempt: u32) -> Duration {
    let base = retry.unwrap_or(DEFAULT_DELAY).max(MIN_DELAY);
    let backoff = internal::Backoff {
        initial: base,
        max: base.max(MAX_DELAY),
    };
    backoff.delay(attempt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_honor_retry_and_double_up_to_a_maximum() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let cases = [
            (None, 1, 1_000),
            (None, 2, 2_000),
            (None, 9, 60_000),
            (None, u32::MAX, 60_000),
            (seconds(0), 1, 100),
            (seconds(0), 3, 400),
            (seconds(90), 1, 90_000),
            (seconds(90), 5, 90_000),
        ];
        for (retry, attempt, expected) in cases {
            let expected = Duration::from_millis(expected);
            assert_eq!(delay(retry, attempt), expected, "CLI-LHTTP-02");
        }
        let long = Duration::from_millis(u64::MAX);
        assert_eq!(delay(Some(long), 3), long, "CLI-LHTTP-02");
    }

    #[test]
    fn delays_grow_after_streams_without_messages() {
        let mut backoff = Backoff::default();
        // Streams whose events are not messages.
        let mut next = |retry: Option<u64>, delivered: bool, seconds: u64| {
            backoff.delivered = delivered;
            let mut position = Position {
                retry: retry.map(Duration::from_millis),
                moved: true,
                ..Position::default()
            };
            let delay = backoff.next_delay(&mut position, Duration::from_secs(seconds));
            delay.as_millis()
        };
        let empty = [0; 5].map(|_| next(None, false, 0));
        assert_eq!(empty, [1_000, 2_000, 4_000, 8_000, 16_000]);
        assert_eq!(next(None, true, 0), 1_000, "a message was delivered");
        let hurried = [0; 4].map(|_| next(Some(0), false, 0));
        assert_eq!(hurried, [200, 400, 800, 1_600], "CLI-LHTTP-02");
        assert_eq!(next(Some(0), false, 60), 100, "a healthy lifetime");
        assert_eq!(next(None, false, 59), 2_000, "too short a lifetime");
        let polled = [0; 4].map(|_| next(Some(3_000), false, 0));
        assert_eq!(polled, [3_000; 4], "the server expects polling");
    }
}
