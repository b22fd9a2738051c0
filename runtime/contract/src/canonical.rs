//! Canonical form of the entries of a contract.

use serde_json::{Map, Number, Value};
use treenail_schema::internal::unwrap_schema;
use treenail_schema::{Prompt, Resource, ResourceTemplate, SchemaObject, Tool};

use crate::keyword::{KeywordValue, keyword_value};

/// An entry of one of the lists of a contract.
pub(super) trait Entry {
    /// Returns the key that identifies the entry. Lists are sorted by it.
    fn key(&self) -> &str;

    /// Converts the entry to its canonical form.
    fn into_canonical(self) -> Self;
}

/// Returns the entries in canonical form, sorted by key, without duplicates.
pub(super) fn canonical_list<T: Entry>(entries: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut entries: Vec<T> = entries.into_iter().map(Entry::into_canonical).collect();
    // A stable sort: the first of several entries with one key must remain the first.
    entries.sort_by(|one, other| one.key().cmp(other.key()));
    entries.dedup_by(|later, earlier| later.key() == earlier.key());
    entries
}

impl Entry for Tool {
    fn key(&self) -> &str {
        &self.name
    }

    fn into_canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self.input_schema = schema_object(&self.input_schema);
        // The protocol version decides whether results are wrapped. A contract therefore contains the unwrapped schema.
        let unwrapped = |schema: &SchemaObject| match unwrap_schema(schema) {
            Some(unwrapped) => schema_members(&unwrapped).into(),
            None => schema_object(schema),
        };
        self.output_schema = self.output_schema.as_ref().map(unwrapped);
        self
    }
}

impl Entry for Prompt {
    fn key(&self) -> &str {
        &self.name
    }

    fn into_canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self
    }
}

impl Entry for ResourceTemplate {
    fn key(&self) -> &str {
        &self.uri_template
    }

    fn into_canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self
    }
}

impl Entry for Resource {
    fn key(&self) -> &str {
        &self.uri
    }

    fn into_canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self
    }
}

pub(super) fn schema_object(schema: &SchemaObject) -> SchemaObject {
    schema_members(schema).into()
}

/// Canonicalizes a schema, and removes an empty `properties`, which has no effect.
fn schema_members(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut members = object(schema, keyword_member);
    let properties = members.get("properties").and_then(Value::as_object);
    if properties.is_some_and(Map::is_empty) {
        members.shift_remove("properties");
    }
    members
}

/// Sorts the keys and sets of a schema, and normalizes its numbers.
fn schema(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(schema_members(members)),
        other => plain(other),
    }
}

/// Canonicalizes the value of a keyword.
fn keyword_member(name: &str, value: &Value) -> Value {
    match (keyword_value(name), value) {
        (KeywordValue::Schemas, _) => one_or_many(value),
        (KeywordValue::SchemaMap, Value::Object(members)) => {
            // `dependencies` may contain lists of names.
            Value::Object(object(members, |_, member| match member {
                Value::Array(_) => set(member),
                _ => schema(member),
            }))
        }
        (KeywordValue::Set, _) => set(value),
        _ => plain(value),
    }
}

fn one_or_many(value: &Value) -> Value {
    match value {
        Value::Array(schemas) => schemas.iter().map(schema).collect(),
        one => schema(one),
    }
}

/// Sorts and deduplicates a list of strings. Other values become plain.
fn set(value: &Value) -> Value {
    let texts = value.as_array().and_then(|items| {
        let texts = items.iter().map(Value::as_str);
        texts.collect::<Option<Vec<_>>>()
    });
    let Some(mut texts) = texts else {
        return plain(value);
    };
    texts.sort_unstable();
    texts.dedup();
    texts.into_iter().map(Value::from).collect()
}

/// Canonicalizes a value that is not a schema.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(object(members, |_, member| plain(member))),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Number(number) => Value::Number(stable_number(number)),
        other => other.clone(),
    }
}

fn object(
    members: &Map<String, Value>,
    value: impl Fn(&str, &Value) -> Value,
) -> Map<String, Value> {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let members = sorted.into_iter();
    members
        .map(|(name, member)| (name.clone(), value(name, member)))
        .collect()
}

/// Returns a number that survives a round trip through a file: an integer for `1.0`, otherwise a float that is parsed as
/// itself. Without this, the last bit may change, because `serde_json` does not parse every fraction exactly.
fn stable_number(number: &Number) -> Number {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.clone();
    };
    if let Some(integer) = as_integer(number) {
        return integer;
    }
    let rounded = || {
        let rounded = format!("{float:.14e}").parse().ok();
        rounded.and_then(Number::from_f64)
    };
    let stable = round_trip(number)
        .or_else(|| rounded().map(|number| round_trip(&number).unwrap_or(number)))
        .unwrap_or_else(|| number.clone());
    as_integer(&stable).unwrap_or(stable)
}

/// Returns a number without a fractional part as an integer.
fn as_integer(number: &Number) -> Option<Number> {
    /// Below 2^53, every integer has an exact `f64`.
    const EXACT_INTEGER_BOUND: f64 = 9_007_199_254_740_992.0;

    let float = number.as_f64()?;
    #[allow(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
    (float.fract() == 0.0 && float.abs() < EXACT_INTEGER_BOUND).then(|| (float as i64).into())
}

/// Serializes and parses a number until it no longer changes.
fn round_trip(number: &Number) -> Option<Number> {
    const MAX_ROUND_TRIPS: usize = 8;

    let mut number = number.clone();
    for _ in 0..MAX_ROUND_TRIPS {
        let read = serde_json::from_str(&number.to_string()).ok()?;
        if read == number {
            return Some(number);
        }
        number = read;
    }
    None
}
