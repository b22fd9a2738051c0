//! Points in time: milliseconds since 1970, and their text in ISO 8601.

use std::time::Duration;

const DAY: u64 = 24 * 60 * 60;

/// Returns a duration in milliseconds, at most `u64::MAX`.
pub(crate) fn to_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Writes a time as `2026-07-28T12:00:00.000Z`.
pub(crate) fn iso8601(ms: u64) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    // Each number ends before the next separator.
    let ends = [4, 7, 10, 13, 16, 19, 23];
    let numbers = [year.min(9_999), month, day, hour, minute, second, ms];
    for (mut at, mut number) in ends.into_iter().zip(numbers) {
        while number > 0 {
            at -= 1;
            text[at] = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
        }
    }
    text.into_iter().map(char::from).collect()
}

/// Returns the date of a day since 1970 in the Gregorian calendar.
///
/// Years start in March here, so that the leap day is the last day of a year.
fn date(days: u64) -> (u64, u64, u64) {
    // 0000-03-01 is 719,468 days before 1970-01-01. The calendar repeats every 146,097 days.
    let days = days.saturating_add(719_468);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next, month, of_month)
}

#[cfg(test)]
mod tests {
    use super::iso8601;

    #[test]
    fn times_are_written_in_iso_8601() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (1_785_240_000_001, "2026-07-28T12:00:00.001Z"),
            (4_102_444_799_000, "2099-12-31T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso8601(ms), text);
        }
    }
}
