//! How long to wait before a stream is asked for again.

use std::time::Duration;

use crate::client::fetch::sse::Position;

/// How long, if the server does not say it.
const USUAL: Duration = Duration::from_secs(1);
/// A server that wants to be asked at once waits this long all the same.
const LEAST: Duration = Duration::from_millis(100);
/// After how long it does not get longer.
const MOST: Duration = Duration::from_secs(60);

/// A stream that lives so long is not a failure, even if nothing comes.
const LIVES: Duration = MOST;

/// Attempts to read a stream that goes on for as long as its session.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    failures: u32,
    /// Whether the stream brought a message.
    pub(super) delivered: bool,
}

impl Attempt {
    /// Pause after this attempt. A stream that ends at once without a message counts as a failure, however many events of
    /// other kinds it has. The exception is a server that names a pause and moves on: it wants to be polled.
    pub(super) fn delay(&mut self, position: &mut Position, lived: Duration) -> Duration {
        let polls = std::mem::take(&mut position.moved)
            && position.retry.is_some_and(|retry| retry >= USUAL);
        self.failures = if self.delivered || polls || lived >= LIVES {
            1
        } else {
            self.failures.saturating_add(1)
        };
        delay(position.retry, self.failures)
    }
}

/// How long to wait before the next attempt, of which this is the `attempt`th in a row: what the server has said, and twice
/// as long each further time.
pub(super) fn delay(retry: Option<Duration>, attempt: u32) -> Duration {
    let base = retry.unwrap_or(USUAL).max(LEAST);
    let doubled = base.saturating_mul(1 << attempt.saturating_sub(1).min(10));
    doubled.min(base.max(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_earlier_than_they_want() {
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
    fn pauses_grow_after_streams_that_bring_nothing() {
        let mut attempt = Attempt::default();
        // Streams of events that are no messages.
        let mut next = |retry: Option<u64>, delivered: bool, lived: u64| {
            attempt.delivered = delivered;
            let mut position = Position {
                retry: retry.map(Duration::from_millis),
                moved: true,
                ..Position::default()
            };
            let delay = attempt.delay(&mut position, Duration::from_secs(lived));
            delay.as_millis()
        };
        let empty = [0; 5].map(|_| next(None, false, 0));
        assert_eq!(empty, [1_000, 2_000, 4_000, 8_000, 16_000]);
        assert_eq!(next(None, true, 0), 1_000, "a message has come");
        let hurried = [0; 4].map(|_| next(Some(0), false, 0));
        assert_eq!(hurried, [200, 400, 800, 1_600], "CLI-LHTTP-02");
        assert_eq!(next(Some(0), false, 60), 100, "it has lived");
        assert_eq!(next(None, false, 59), 2_000, "it has not lived");
        let polled = [0; 4].map(|_| next(Some(3_000), false, 0));
        assert_eq!(polled, [3_000; 4], "the server wants to be polled");
    }
}
