//! Delay before a retry.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use treenail_http_client::response::retry_after;
use treenail_runtime::internal::Backoff;

use super::limits::OpenAiLimits;

/// Returns the delay after the given number of failures; `None` if there is no further retry.
///
/// `requested` is the delay that the endpoint requested, and `jitter` a random number between 0 and 1.
pub(super) fn retry_delay(
    failures: u32,
    requested: Option<Duration>,
    jitter: f64,
    limits: &OpenAiLimits,
) -> Option<Duration> {
    if failures > limits.retries {
        return None;
    }
    if let Some(requested) = requested {
        // Adds jitter, because other clients got the same delay.
        let delay = requested.saturating_add(requested.mul_f64(jitter / 10.0));
        return (requested <= limits.max_backoff).then_some(delay);
    }
    let backoff = Backoff {
        initial: limits.initial_backoff,
        max: limits.max_backoff,
    };
    Some(backoff.delay_with_jitter(failures, jitter))
}

/// Reads the delay that the endpoint requested: `retry-after-ms`, or `Retry-After` in either form.
pub(super) fn requested_delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let delay = milliseconds.and_then(|it| Duration::try_from_secs_f64(it / 1_000.0).ok());
    delay.or_else(|| retry_after(headers, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requested_delay_is_parsed() {
        type Given<'a> = &'a [(&'static str, &'a str)];

        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let cases: [(Given<'_>, Option<u64>); 11] = [
            (&[], None),
            (&[("retry-after", "2")], Some(2_000)),
            (&[("retry-after", "0.25")], Some(250)),
            (
                &[("retry-after", "2"), ("retry-after-ms", "30.5")],
                Some(30),
            ),
            (
                &[("retry-after", "2"), ("retry-after-ms", "x")],
                Some(2_000),
            ),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
                Some(7_000),
            ),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")], Some(0)),
            (&[("retry-after", "Sun, 06 Nov 1994 24:00:00 GMT")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
        ];
        for (given, expected) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.insert(*name, value.parse().unwrap());
            }
            let requested = requested_delay(&headers, now).map(|delay| delay.as_millis());
            assert_eq!(requested, expected.map(u128::from), "{given:?}");
        }
    }

    #[test]
    fn backoff_grows_up_to_a_maximum_and_ends() {
        let limits = OpenAiLimits::default()
            .retries(3)
            .initial_backoff(Duration::from_secs(1))
            .max_backoff(Duration::from_secs(3));
        let cases = [
            (1, None, 0.0, Some(500)),
            (1, None, 1.0, Some(1_000)),
            (2, None, 1.0, Some(2_000)),
            (3, None, 1.0, Some(3_000)),
            (3, None, 0.0, Some(1_500)),
            (4, None, 0.0, None),
            (1, Some(2_000), 0.0, Some(2_000)),
            (3, Some(2_000), 1.0, Some(2_200)),
            (1, Some(3_001), 0.0, None),
            (4, Some(1), 0.0, None),
        ];
        for (failures, requested, jitter, expected) in cases {
            let requested = requested.map(Duration::from_millis);
            let delay = retry_delay(failures, requested, jitter, &limits);
            assert_eq!(
                delay,
                expected.map(Duration::from_millis),
                "{failures} {requested:?}"
            );
        }
    }
}
