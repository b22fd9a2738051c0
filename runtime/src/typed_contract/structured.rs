//! Deserialization of structured content, which may be wrapped in an object.

use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Result, Value};
use treenail_schema::CallToolResult;

use crate::revision::{is_marked, wrapped_value};
use crate::typed_contract::output::text_of;

/// Deserializes `content`, the structured content taken from `result`.
///
/// A server that must send an object wraps other values as `{"result": …}`. If the result is marked as wrapped, the
/// value is the inner one. Without a mark, it is the inner one only if the whole object does not fit the type.
pub(crate) fn read_structured<T: DeserializeOwned>(
    content: Value,
    result: &CallToolResult,
) -> Result<T> {
    if let Some(inner) = wrapped_value(&content) {
        return read_wrapped(&content, inner, is_marked(result.meta.as_ref()));
    }
    serde_json::from_value(content).map_err(|error| match text_of(result) {
        Some(text) => add_location::<T>(error, &text),
        None => error,
    })
}

/// Deserializes a stream item like [`read_structured`], without a mark.
pub(crate) fn read_item<T: DeserializeOwned>(item: Value) -> Result<T> {
    match wrapped_value(&item) {
        Some(inner) => read_wrapped(&item, inner, false),
        None => serde_json::from_value(item),
    }
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

    fn read<T: DeserializeOwned>(content: Value, marked: bool) -> std::result::Result<T, String> {
        let mut result = CallToolResult::text(content.to_string());
        if marked {
            mark_wrapped(result.meta.get_or_insert_with(ResultMetaObject::new));
        }
        read_structured(content, &result).map_err(|error| error.to_string())
    }

    #[test]
    fn wrapped_values_are_unwrapped() {
        let three = || json!({"result": 3});
        for marked in [false, true] {
            assert_eq!(read(three(), marked), Ok(3));
            assert_eq!(read(three(), marked), Ok(Some(3)));
            assert_eq!(read(three(), marked), Ok(Sum { result: 3 }));
            assert_eq!(read(json!({"result": null}), marked), Ok(()));
            assert_eq!(read(json!({"result": [1, 2]}), marked), Ok(vec![1, 2]));
        }
        assert_eq!(read(three(), false), Ok(three()));
        assert_eq!(read(three(), true), Ok(json!(3)));
        let noted = || json!({"result": {"note": "n"}});
        let note = Some("n".to_owned());
        assert_eq!(read(noted(), true), Ok(Loose { note }));
        let whole = BTreeMap::from([("result".to_owned(), 3)]);
        assert_eq!(read(three(), false), Ok(whole));
    }

    #[test]
    fn errors_include_their_location() {
        let error = |content, marked| read::<Vec<Sum>>(content, marked).unwrap_err();
        let text = || json!({"result": "three"});
        let reason = "invalid type: string \"three\", expected i64";
        for marked in [false, true] {
            let found = read::<i64>(text(), marked);
            assert_eq!(found, Err(format!("at `result`: {reason}")));
            let found = error(json!({"result": [{"result": "three"}]}), marked);
            assert_eq!(found, format!("at `result[0].result`: {reason}"));
        }
        let found = error(json!([{"result": 1}, {"result": "three"}]), false);
        assert_eq!(found, format!("at `[1].result`: {reason}"));
        let found = read::<Sum>(text(), false);
        assert_eq!(found, Err(format!("at `result`: {reason}")));
        assert_eq!(read::<i64>(json!("three"), false), Err(reason.to_owned()));
    }
}
