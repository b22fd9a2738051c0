//! Readers of the most frequent argument types, integers and strings, without a deserializer.

use std::any::Any;

use serde::de::DeserializeOwned;

use crate::wire::is_plain_string;

/// Reads the checked JSON value `text`, with the result of `serde_json`.
pub fn read_scalar<T: DeserializeOwned + 'static>(text: &str) -> Option<T> {
    let mut value = None::<T>;
    if read_into(text, &mut value) {
        value
    } else {
        serde_json::from_str(text).ok()
    }
}

/// Reads a value into `slot`, an `Option` of its type. Returns false if the type or the text needs a deserializer. The type is a
/// value here, so that this function is compiled once.
fn read_into(text: &str, slot: &mut dyn Any) -> bool {
    match text.as_bytes() {
        [b'"', ..] => match slot.downcast_mut::<Option<String>>() {
            Some(slot) if is_plain_string(text) => {
                *slot = Some(text[1..text.len() - 1].to_owned());
                true
            }
            _ => false,
        },
        // Of the integers in JSON, -0 is a number with a fraction for `serde_json`.
        [b'-', b'0'] => false,
        [b'-' | b'0'..=b'9', ..] => {
            read_integer::<i64>(text, slot)
                || read_integer::<u64>(text, slot)
                || read_integer::<u32>(text, slot)
                || read_integer::<i32>(text, slot)
                || read_integer::<usize>(text, slot)
        }
        _ => false,
    }
}

fn read_integer<T: std::str::FromStr + 'static>(text: &str, slot: &mut dyn Any) -> bool {
    match slot.downcast_mut::<Option<T>>() {
        Some(slot) => {
            *slot = text.parse().ok();
            slot.is_some()
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    const TEXTS: [&str; 22] = [
        "0",
        "-0",
        "7",
        "-7",
        "1.0",
        "1e2",
        "-1e400",
        "255",
        "256",
        "2147483648",
        "-2147483649",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551616",
        "\"\"",
        "\"é\"",
        "\"a\\n\"",
        "\"\\ud800\"",
        "null",
        "[1]",
    ];

    fn agrees_with_serde<T: DeserializeOwned + PartialEq + Debug + 'static>() {
        for text in TEXTS {
            assert_eq!(
                read_scalar::<T>(text),
                serde_json::from_str(text).ok(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_value_is_read_as_serde_reads_it() {
        agrees_with_serde::<i64>();
        agrees_with_serde::<u64>();
        agrees_with_serde::<i32>();
        agrees_with_serde::<u32>();
        agrees_with_serde::<usize>();
        agrees_with_serde::<u8>();
        agrees_with_serde::<f64>();
        agrees_with_serde::<String>();
        agrees_with_serde::<Option<String>>();
        agrees_with_serde::<serde_json::Value>();
    }
}
