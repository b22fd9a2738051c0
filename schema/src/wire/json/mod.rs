//! Serialization of users' values as JSON: on one line, and without numbers that JSON cannot represent.
//!
//! `serde_json` writes a `RawValue` with its line ends, which would break the framing of lines and events, and the text
//! copies of results. It writes NaN as `null`, which a model would read as a missing number.

mod strict;

use std::io;

use memchr::{memchr2, memchr3};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::value::RawValue;

use self::strict::Strict;

/// Writes a value as JSON without line ends. Fails if it contains a number that is not finite.
pub fn write_json<W: io::Write, T: Serialize + ?Sized>(
    out: W,
    value: &T,
) -> serde_json::Result<()> {
    value.serialize(Strict(&mut Serializer::with_formatter(out, OneLine)))
}

/// A value that [`write_json`] writes, as a trait object: code around it is compiled once and not for each type.
pub trait WriteJson {
    /// Appends the value to `out`, see [`write_json`].
    fn write_json(&self, out: &mut Vec<u8>) -> serde_json::Result<()>;
}

impl<T: Serialize + ?Sized> WriteJson for T {
    fn write_json(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        write_json(out, self)
    }
}

/// Returns the JSON of a value, as [`write_json`] writes it.
pub fn raw_json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Box<RawValue>> {
    let mut out = Vec::with_capacity(64);
    write_json(&mut out, value)?;
    let text = String::from_utf8(out).map_err(serde::ser::Error::custom)?;
    RawValue::from_string(text)
}

/// Compact formatter that also replaces line ends in raw JSON. Raw JSON has control characters only between tokens, never in
/// strings, so a space is equivalent.
struct OneLine;

impl Formatter for OneLine {
    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment.as_bytes();
        while let Some(at) = memchr3(b'\n', b'\r', b'\t', rest) {
            writer.write_all(&rest[..at])?;
            writer.write_all(b" ")?;
            rest = &rest[at + 1..];
        }
        writer.write_all(rest)
    }
}

/// Returns true if a message has no line ends, as all framings require.
pub fn is_one_line(message: &[u8]) -> bool {
    memchr2(b'\n', b'\r', message).is_none()
}

/// Replaces line ends with spaces. A valid message has none: a line end would terminate it, and the rest would be read as
/// another message.
pub fn keep_one_line(message: &mut [u8]) {
    let one_line = is_one_line(message);
    debug_assert!(one_line, "a message has a line end");
    if !one_line {
        tracing::error!("a message had line ends, which were taken out");
        for byte in message {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    fn written<T: Serialize>(value: &T) -> Result<String, String> {
        let mut out = Vec::new();
        write_json(&mut out, value).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).expect("it is text"))
    }

    #[derive(Serialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Plain { number: f64 },
        Flat(Flat),
    }

    #[derive(Serialize)]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, f32>,
        raw: Box<RawValue>,
        pair: (u8, Option<f64>),
    }

    #[derive(Serialize)]
    #[serde(untagged)]
    enum Either {
        Number(f64),
        Pair(u8, f32),
        Unit,
    }

    fn flat(number: f32, optional: Option<f64>) -> Tagged {
        Tagged::Flat(Flat {
            rest: BTreeMap::from([("x".to_owned(), number)]),
            raw: RawValue::from_string("{\r\n\t\"a\": \"\\n\"\n}".to_owned()).expect("JSON"),
            pair: (1, optional),
        })
    }

    #[test]
    fn what_is_finite_is_written_as_serde_json_does_it() {
        let values: [Value; 3] = [
            json!(null),
            json!([1.5, "é\n", {"a": -0.0}]),
            json!(u64::MAX),
        ];
        for value in values {
            assert_eq!(written(&value), Ok(value.to_string()));
        }
        assert_eq!(written(&u128::MAX), Ok(u128::MAX.to_string()));
        assert_eq!(written(&f64::MAX), Ok(json!(f64::MAX).to_string()));
        let keys = BTreeMap::from([(1, Either::Unit), (2, Either::Pair(1, 0.5))]);
        assert_eq!(written(&keys), Ok(r#"{"1":null,"2":[1,0.5]}"#.to_owned()));
        let expected = r#"{"kind":"Flat","x":0.5,"raw":{   "a": "\n" },"pair":[1,null]}"#;
        assert_eq!(written(&flat(0.5, None)), Ok(expected.to_owned()));
    }

    #[test]
    fn what_is_not_finite_is_an_error_wherever_it_stands() {
        let nan = Err("JSON has no number NaN".to_owned());
        assert_eq!(written(&f64::NAN), nan);
        assert_eq!(written(&f32::NAN), nan);
        assert_eq!(written(&Some(vec![(1, f64::NAN)])), nan);
        assert_eq!(written(&Tagged::Plain { number: f64::NAN }), nan);
        assert_eq!(written(&Either::Number(f64::NAN)), nan);
        assert_eq!(written(&Either::Pair(1, f32::NAN)), nan);
        assert_eq!(written(&flat(f32::NAN, None)), nan);
        assert_eq!(written(&flat(0.0, Some(f64::NAN))), nan);
        let infinite = Err("JSON has no number -inf".to_owned());
        assert_eq!(
            written(&BTreeMap::from([("a", f64::NEG_INFINITY)])),
            infinite
        );
    }

    #[test]
    fn raw_json_stays_json_on_one_line() {
        let raw = "[\n1,\r\n\t{\"a\":\"b\\tc\"} ]";
        let raw = RawValue::from_string(raw.to_owned()).expect("JSON");
        let text = raw_json(&[raw]).expect("JSON");
        assert!(is_one_line(text.get().as_bytes()));
        let read: Value = serde_json::from_str(text.get()).expect("JSON");
        assert_eq!(read, json!([[1, {"a": "b\tc"}]]));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a message has a line end")]
    fn a_line_end_in_a_message_is_noticed() {
        keep_one_line(&mut b"{}\n{}".to_vec());
    }
}
