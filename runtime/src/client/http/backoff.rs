//! How long to wait before a stream is asked for again.

use std::time::Duration;

/// How long, if the server does not say it.
const USUAL: Duration = Duration::from_secs(1);
/// A server that wants to be asked at once waits this long all the same.
const LEAST: Duration = Duration::from_millis(100);
/// After how long it does not get longer.
const MOST: Duration = Duration::from_secs(60);

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
}
