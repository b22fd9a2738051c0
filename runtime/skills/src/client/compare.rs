//! Comparison of the front matter of a file with that of its entry.

use serde_json::{Map, Value};

/// Returns the first field that differs.
pub(super) fn difference<'a>(
    file: &'a Map<String, Value>,
    entry: &'a Map<String, Value>,
) -> Option<&'a str> {
    let missing = entry.keys().find(|key| !file.contains_key(*key));
    let mut fields = file.iter();
    let differs = |(key, value): &(&String, &Value)| {
        let other = entry.get(*key);
        !other.is_some_and(|other| is_same(value, other))
    };
    let different = fields.find(differs).map(|(key, _)| key);
    different.or(missing).map(String::as_str)
}

/// Returns true for equal values. Numbers are equal if their values are: other languages write `1.0` as `1`.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => difference(one, other).is_none(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_compared_by_value() {
        let difference = |one: Value, other: Value| {
            let (one, other) = (one.as_object().cloned(), other.as_object().cloned());
            let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
            difference(&one, &other).map(str::to_owned)
        };
        let same = json!({"a": 1, "b": {"c": [null, "x"], "d": 1.0}});
        assert_eq!(
            difference(
                same.clone(),
                json!({"b": {"d": 1, "c": [null, "x"]}, "a": 1.0})
            ),
            None
        );
        for other in [
            json!({"a": 1, "b": {"c": [null, "y"], "d": 1.0}}),
            json!({"a": 1, "b": {"c": [null], "d": 1.0}}),
            json!({"a": 1, "b": {"c": [null, "x"], "d": 1.0, "e": 2}}),
            json!({"a": 1}),
            json!({"a": 1, "b": null}),
        ] {
            assert_eq!(
                difference(same.clone(), other.clone()).as_deref(),
                Some("b")
            );
            assert_eq!(difference(other, same.clone()).as_deref(), Some("b"));
        }
        assert_eq!(
            difference(json!({"a": "1"}), json!({"a": 1})).as_deref(),
            Some("a")
        );
        let largest = json!({"a": u64::MAX});
        assert_eq!(
            difference(largest, json!({"a": u64::MAX - 1})).as_deref(),
            Some("a")
        );
    }
}
