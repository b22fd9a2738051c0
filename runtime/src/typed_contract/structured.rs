//! Deserialization of structured content, which may be wrapped in an object.

use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Result, Value};
use treenail_schema::CallToolResult;

use crate::function::integral::{
    has_integral_fraction, value_without_fractions, without_fractions,
};
use crate::revision::{is_marked, wrapped_value};
use crate::typed_contract::output::text_of;

/// Deserializes `content`, the structured content of `result`.
///
/// A server that must send an object wraps other values as `{"result": …}`. If the result is marked as wrapped, the
/// value is the inner one. Without a mark, it is the inner one only if the whole object does not fit the type.
///
/// A [`Value`] has no integers above 64 bits. If there are any, the value is read from the text copy of the content.
/// Integers may have a fraction of zero, such as `1.0`, which JSON Schema allows.
pub(crate) fn read_structured<T: DeserializeOwned>(
    content: Value,
    result: &CallToolResult,
) -> Result<T> {
    if is_plain(&content) {
        return serde_json::from_value(content).or_else(|error| read_copy(error, result));
    }
    let read = read_content(&content, is_marked(result.meta.as_ref()));
    read.or_else(|error| match wrapped_value(&content) {
        Some(inner) => read_wrapped_copy(error, (&content, inner), result),
        None => read_copy(error, result),
    })
}

/// Deserializes a stream item like [`read_structured`], without a mark and a copy.
pub(crate) fn read_item<T: DeserializeOwned>(item: Value) -> Result<T> {
    if is_plain(&item) {
        return serde_json::from_value(item);
    }
    read_content(&item, false)
}

/// Returns true if there is one way to read the content. It is consumed then, so that its strings are not copied.
fn is_plain(content: &Value) -> bool {
    wrapped_value(content).is_none() && !has_integral_fraction(content)
}

/// Deserializes content, which is rewritten only if it cannot be read.
fn read_content<T: DeserializeOwned>(content: &Value, marked: bool) -> Result<T> {
    read_value(content, marked).or_else(|_| read_value(&value_without_fractions(content), marked))
}

fn read_value<T: DeserializeOwned>(content: &Value, marked: bool) -> Result<T> {
    match wrapped_value(content) {
        Some(inner) => read_wrapped(content, inner, marked),
        None => T::deserialize(content),
    }
}

/// Deserializes the text copy of structured content, which failed with `error`.
///
/// A text that fails in the same way as a [`Value`] is a copy. It can be read nevertheless if it has large integers.
#[cold]
fn read_copy<T: DeserializeOwned>(error: Error, result: &CallToolResult) -> Result<T> {
    let text = text_of(result).unwrap_or_default();
    let text = without_fractions(&text).unwrap_or(text);
    let copy = serde_json::from_str::<Value>(&text);
    let of_copy = copy.and_then(serde_json::from_value::<T>);
    if of_copy.is_err_and(|of_copy| of_copy.to_string() == error.to_string()) {
        if let Ok(value) = serde_json::from_str(&text) {
            return Ok(value);
        }
    }
    Err(add_location::<T>(error, &text))
}

fn read_wrapped<T: DeserializeOwned>(whole: &Value, inner: &Value, marked: bool) -> Result<T> {
    let (likely, other) = if marked {
        (inner, whole)
    } else {
        (whole, inner)
    };
    T::deserialize(likely)
        .or_else(|_| T::deserialize(other))
        .map_err(|_| explain::<T>(whole, inner, marked))
}

/// Deserializes the text copy of structured content, or of the value within, which failed with `error`.
#[cold]
fn read_wrapped_copy<T: DeserializeOwned>(
    error: Error,
    (whole, inner): (&Value, &Value),
    result: &CallToolResult,
) -> Result<T> {
    let text = text_of(result).unwrap_or_default();
    let copy = serde_json::from_str::<Value>(&text);
    let copy = copy.ok().filter(|copy| copy == inner || copy == whole);
    let text = without_fractions(&text).unwrap_or(text);
    match copy.and_then(|_| serde_json::from_str(&text).ok()) {
        Some(value) => Ok(value),
        None => Err(error),
    }
}

/// Explains why neither the whole object nor its inner value fits: returns the error of the likelier one.
#[cold]
fn explain<T: DeserializeOwned>(whole: &Value, inner: &Value, marked: bool) -> Error {
    let (path, of_whole) = find_error::<T>(whole);
    if !marked && !path.is_empty() {
        return error_at(&path, &of_whole);
    }
    let (path, of_inner) = find_error::<T>(inner);
    let path = if path.starts_with('[') || path.is_empty() {
        format!("result{path}")
    } else {
        format!("result.{path}")
    };
    error_at(&path, &of_inner)
}

/// Adds the location to an error, found by deserializing the JSON again.
#[cold]
pub(crate) fn add_location<T: DeserializeOwned>(error: Error, json: &str) -> Error {
    let Ok(value) = serde_json::from_str::<Value>(json) else {
        return error;
    };
    let (path, reason) = find_error::<T>(&value);
    // An error whose message differs from that of the value is not about the same failure.
    if path.is_empty() || !error.to_string().starts_with(&reason) {
        return error;
    }
    error_at(&path, &reason)
}

/// Returns the location and the reason of a deserialization error; the location is empty for the whole value.
fn find_error<T: DeserializeOwned>(value: &Value) -> (String, String) {
    match serde_path_to_error::deserialize::<_, T>(value) {
        Ok(_) => Default::default(),
        Err(error) => {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            (path, error.inner().to_string())
        }
    }
}

fn error_at(path: &str, reason: &str) -> Error {
    Error::custom(format!("at `{path}`: {reason}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;
    use treenail_schema::ResultMetaObject;

    use super::*;
    use crate::revision::mark_wrapped;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Loose {
        note: Option<String>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Sum {
        result: i64,
    }

    fn read<T: DeserializeOwned>(content: &Value, marked: bool) -> std::result::Result<T, String> {
        let mut result = CallToolResult::text(content.to_string());
        if marked {
            mark_wrapped(result.meta.get_or_insert_with(ResultMetaObject::new));
        }
        read_structured(content.clone(), &result).map_err(|error| error.to_string())
    }

    #[test]
    fn wrapped_values_are_unwrapped() {
        let three = || json!({"result": 3});
        for marked in [false, true] {
            assert_eq!(read(&three(), marked), Ok(3));
            assert_eq!(read(&three(), marked), Ok(Some(3)));
            assert_eq!(read(&three(), marked), Ok(Sum { result: 3 }));
            assert_eq!(read(&json!({"result": null}), marked), Ok(()));
            assert_eq!(read(&json!({"result": [1, 2]}), marked), Ok(vec![1, 2]));
        }
        assert_eq!(read(&three(), false), Ok(three()));
        assert_eq!(read(&three(), true), Ok(json!(3)));
        let noted = || json!({"result": {"note": "n"}});
        let note = Some("n".to_owned());
        assert_eq!(read(&noted(), true), Ok(Loose { note }));
        let whole = BTreeMap::from([("result".to_owned(), 3)]);
        assert_eq!(read(&three(), false), Ok(whole));
    }

    #[test]
    fn large_integers_are_read_from_the_copy() {
        #[derive(Debug, Deserialize, PartialEq)]
        struct Big {
            n: u128,
        }
        let largest = u128::MAX;
        let (object, bare) = (format!("{{\"n\":{largest}}}"), largest.to_string());
        let read_big = |text: &str| {
            let content = serde_json::from_str(&object).unwrap();
            read_structured::<Big>(content, &CallToolResult::text(text))
        };
        assert_eq!(read_big(&object).unwrap(), Big { n: largest });
        for other in ["{\"n\":5}", "{\"n\":-1}", &bare, "a big number"] {
            let error = read_big(other).unwrap_err().to_string();
            assert!(error.starts_with("invalid type: floating point"), "{error}");
        }
        let read_wrapped = |text: &str| {
            let content = json!({"result": serde_json::from_str::<Value>(&bare).unwrap()});
            read_structured::<u128>(content, &CallToolResult::text(text))
        };
        assert_eq!(read_wrapped(&bare).unwrap(), largest);
        let error = read_wrapped("5").unwrap_err().to_string();
        assert!(error.starts_with("at `result`: invalid type"), "{error}");
    }

    #[test]
    fn integers_may_have_a_fraction_of_zero() {
        #[derive(Debug, Deserialize, PartialEq)]
        struct Both {
            n: u128,
            count: u32,
            share: f64,
        }
        let plain = CallToolResult::text("x");
        let three = || json!({"result": 3.0});
        assert_eq!(
            read_structured::<Sum>(three(), &plain).unwrap(),
            Sum { result: 3 }
        );
        for marked in [false, true] {
            assert_eq!(read(&three(), marked), Ok(3));
            assert_eq!(read(&three(), marked), Ok(3.0));
            assert_eq!(read(&json!({"result": [1, 2.0]}), marked), Ok(vec![1, 2]));
        }
        assert_eq!(read(&three(), false), Ok(three()));
        assert_eq!(read_item::<Sum>(three()).unwrap(), Sum { result: 3 });
        assert_eq!(read_item::<u8>(three()).unwrap(), 3);
        let n = u128::MAX;
        let text = format!("{{\"n\":{n},\"count\":3.0,\"share\":0.5}}");
        let content = serde_json::from_str(&text).unwrap();
        let both = read_structured::<Both>(content, &CallToolResult::text(text));
        let (count, share) = (3, 0.5);
        assert_eq!(both.unwrap(), Both { n, count, share });
        let wrapped = format!("[{n},1.0]");
        let inner: Value = serde_json::from_str(&wrapped).unwrap();
        let (content, copy) = (json!({ "result": inner }), CallToolResult::text(wrapped));
        assert_eq!(
            read_structured::<Vec<u128>>(content, &copy).unwrap(),
            [n, 1]
        );
        let found = read::<Both>(&json!({"n": 1.0, "count": 2.5, "share": 1}), false);
        let reason = "at `count`: invalid type: floating point `2.5`, expected u32";
        assert_eq!(found, Err(reason.to_owned()));
    }

    #[test]
    fn errors_include_their_location() {
        let error = |content: &Value, marked| read::<Vec<Sum>>(content, marked).unwrap_err();
        let text = || json!({"result": "three"});
        let reason = "invalid type: string \"three\", expected i64";
        for marked in [false, true] {
            let found = read::<i64>(&text(), marked);
            assert_eq!(found, Err(format!("at `result`: {reason}")));
            let found = error(&json!({"result": [{"result": "three"}]}), marked);
            assert_eq!(found, format!("at `result[0].result`: {reason}"));
        }
        let found = error(&json!([{"result": 1}, {"result": "three"}]), false);
        assert_eq!(found, format!("at `[1].result`: {reason}"));
        let found = read::<Sum>(&text(), false);
        assert_eq!(found, Err(format!("at `result`: {reason}")));
        assert_eq!(read::<i64>(&json!("three"), false), Err(reason.to_owned()));
    }
}
