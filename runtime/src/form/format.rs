//! String formats of form fields.

use iri_string::types::UriStr;
use treenail_schema::StringSchemaFormat;

/// A type that supports `#[field(format = "…")]`: `String`, and `Option`s of it.
///
/// Implement it for a custom type whose [`schema`](crate::FormField::schema) is a string with `impl StringFormat for
/// Text {}`.
///
/// | format | accepted values |
/// |---|---|
/// | `email` | `local@domain`, without quotes, comments and addresses in brackets; existence is not checked |
/// | `uri` | a URI with a scheme (RFC 3986) |
/// | `date` | an existing date, such as `2026-07-28` (RFC 3339) |
/// | `date-time` | a date and time with an offset, such as `2026-07-28T09:30:00Z` (RFC 3339) |
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `format`",
    label = "this is not a `String`",
    note = "`format` is for `String`"
)]
pub trait StringFormat: Sized {
    /// Returns the format unchanged; the bound on `Self` is the check.
    fn format(format: StringSchemaFormat) -> StringSchemaFormat {
        format
    }
}

#[diagnostic::do_not_recommend]
impl StringFormat for String {}

#[diagnostic::do_not_recommend]
impl<T: StringFormat> StringFormat for Option<T> {}

/// Returns whether a string has this format. Unknown formats are accepted.
#[inline]
pub(super) fn fits(format: StringSchemaFormat, text: &str) -> bool {
    match format {
        StringSchemaFormat::Email => is_email(text),
        StringSchemaFormat::Uri => UriStr::new(text).is_ok(),
        StringSchemaFormat::Date => is_date(text),
        StringSchemaFormat::DateTime => is_date_time(text),
        _ => true,
    }
}

/// Maximum length of an address, in bytes (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
/// Maximum length of the local part of an address, in bytes (RFC 5321).
const MAX_LOCAL_PART_BYTES: usize = 64;

#[inline]
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_atom = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let is_local = |part: &str| !part.is_empty() && part.chars().all(is_atom);
    let is_label = |label: &str| {
        let inner = label.chars().all(|c| c.is_alphanumeric() || c == '-');
        inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= MAX_EMAIL_BYTES
        && local.len() <= MAX_LOCAL_PART_BYTES
        && local.split('.').all(is_local)
        && domain.split('.').all(is_label)
}

#[inline]
fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text, b'-', [4, 2, 2]) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=last).contains(&day)
}

#[inline]
fn is_date_time(text: &str) -> bool {
    let split = |index| text.split_at_checked(index);
    let (Some((date, _)), Some((_, time))) = (split(10), split(11)) else {
        return false;
    };
    is_date(date) && matches!(text.as_bytes()[10], b'T' | b't') && is_time(time)
}

/// `09:30:00Z`, `09:30:00.5+02:00`
#[inline]
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else {
        return false;
    };
    let offset = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => {
            let offset = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if offset.len() == fraction.len() {
                return false;
            }
            offset
        }
    };
    // 60 is a leap second.
    let clock = numbers(clock, b':', [2, 2, 2]);
    clock.is_some_and(|[hour, minute, second]| hour < 24 && minute < 60 && second <= 60)
        && is_offset(offset)
}

/// `Z`, `+02:00`
#[inline]
fn is_offset(text: &str) -> bool {
    if matches!(text, "Z" | "z") {
        return true;
    }
    let clock = text.strip_prefix(['+', '-']);
    let clock = clock.and_then(|clock| numbers(clock, b':', [2, 2]));
    clock.is_some_and(|[hour, minute]| hour < 24 && minute < 60)
}

/// Parses numbers with fixed counts of digits, separated by `separator`.
fn numbers<const N: usize>(text: &str, separator: u8, digits: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(char::from(separator));
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let plain = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|_| plain)?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: StringSchemaFormat, right: &[&str], wrong: &[&str]) {
        for text in right {
            assert!(fits(format, text), "{text:?} is a {format}");
        }
        for text in wrong {
            assert!(!fits(format, text), "{text:?} is no {format}");
        }
    }

    #[test]
    fn email_addresses_have_two_parts() {
        let long = format!("{}@example.com", "a".repeat(65));
        check(
            StringSchemaFormat::Email,
            &[
                "a@b",
                "ada.lovelace+tag@example.co.uk",
                "jos\u{e9}@ex\u{e4}mple.com",
                "o'b@x-y.z",
            ],
            &[
                "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", ".a@b", "a.@b", "a..b@c",
                "a@.b", "a@b.", "a@b..c", "a@-b", "a@b-", "a@b_c", "<a@b>", "a@b\n", &long,
            ],
        );
    }

    #[test]
    fn uris_have_a_scheme() {
        check(
            StringSchemaFormat::Uri,
            &[
                "https://example.com/a?b#c",
                "mailto:a@b",
                "urn:isbn:0451450523",
                "file:///a",
            ],
            &[
                "",
                "example.com",
                "/a",
                "//a/b",
                "https://a b",
                "https://ex\u{e4}mple.com",
                "1a:b",
            ],
        );
    }

    #[test]
    fn dates_exist() {
        check(
            StringSchemaFormat::Date,
            &[
                "2026-07-28",
                "2024-02-29",
                "2000-02-29",
                "0000-01-01",
                "9999-12-31",
            ],
            &[
                "",
                "2026-7-28",
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-00-10",
                "2026-04-31",
                "2026-01-00",
                "26-01-01",
                "2026-01-01T",
                "2026-01-01-01",
                "+026-01-01",
                "2026/01/01",
                " 2026-01-01",
                "\u{661}026-01-01",
            ],
        );
    }

    #[test]
    fn times_have_an_offset() {
        check(
            StringSchemaFormat::DateTime,
            &[
                "2026-07-28T09:30:00Z",
                "2026-07-28t09:30:00z",
                "2026-07-28T09:30:00.123456789Z",
                "2026-07-28T23:59:60+02:00",
                "2026-07-28T00:00:00-23:59",
            ],
            &[
                "",
                "2026-07-28",
                "2026-07-28T09:30:00",
                "2026-07-28 09:30:00Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T09:60:00Z",
                "2026-07-28T09:30:61Z",
                "2026-07-28T09:30:00.Z",
                "2026-07-28T09:30Z",
                "2026-07-28T09:30:00+2:00",
                "2026-07-28T09:30:00+24:00",
                "2026-02-30T09:30:00Z",
                "2026-07-28T09:30:00ZZ",
                "2026-07-28\u{e9}09:30:00Z",
                "2026-07-2\u{e9}T09:30:00Z",
                "2026-07-28T09:30:0\u{e9}Z",
            ],
        );
    }
}
