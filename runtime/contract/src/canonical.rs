//! The one form that entries of a contract have.

use serde_json::{Map, Number, Value};
use treenail_schema::internal::unwrap_schema;
use treenail_schema::{Prompt, Resource, ResourceTemplate, SchemaObject, Tool};

use crate::keyword::{Holds, holds};

/// What the lists of a contract consist of.
pub(super) trait Entry {
    /// What it is sorted by, and known by.
    fn key(&self) -> &str;

    /// The same, as contracts have it.
    fn canonical(self) -> Self;
}

/// A list in the form of contracts.
pub(super) fn list<T: Entry>(entries: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut entries: Vec<T> = entries.into_iter().map(Entry::canonical).collect();
    // Stable, so that the first of two stays the first.
    entries.sort_by(|one, other| one.key().cmp(other.key()));
    entries.dedup_by(|later, earlier| later.key() == earlier.key());
    entries
}

impl Entry for Tool {
    fn key(&self) -> &str {
        &self.name
    }

    fn canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self.input_schema = schema_object(&self.input_schema);
        // Whether results are wrapped depends on the revision that was spoken, so a contract has the schema of the value.
        let bare = |schema: &SchemaObject| match unwrap_schema(schema) {
            Some(bare) => schema_members(&bare).into(),
            None => schema_object(schema),
        };
        self.output_schema = self.output_schema.as_ref().map(bare);
        self
    }
}

impl Entry for Prompt {
    fn key(&self) -> &str {
        &self.name
    }

    fn canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self
    }
}

impl Entry for ResourceTemplate {
    fn key(&self) -> &str {
        &self.uri_template
    }

    fn canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self
    }
}

impl Entry for Resource {
    fn key(&self) -> &str {
        &self.uri
    }

    fn canonical(mut self) -> Self {
        self.meta = None;
        self.icons = None;
        self
    }
}

fn schema_object(schema: &SchemaObject) -> SchemaObject {
    schema_members(schema).into()
}

/// A schema without what says nothing: a list of properties that has none.
fn schema_members(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut members = object(schema, keyword);
    let properties = members.get("properties").and_then(Value::as_object);
    if properties.is_some_and(Map::is_empty) {
        members.shift_remove("properties");
    }
    members
}

/// A schema with sorted keys, sorted sets, and numbers that are written in one way.
fn schema(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(schema_members(members)),
        other => plain(other),
    }
}

/// The value of a keyword.
fn keyword(name: &str, value: &Value) -> Value {
    match (holds(name), value) {
        (Holds::Schema, _) => one_or_many(value),
        (Holds::Named, Value::Object(members)) => {
            // In `dependencies`, some are lists of names.
            Value::Object(object(members, |_, member| match member {
                Value::Array(_) => set(member),
                _ => schema(member),
            }))
        }
        (Holds::Set, _) => set(value),
        _ => plain(value),
    }
}

fn one_or_many(value: &Value) -> Value {
    match value {
        Value::Array(schemas) => schemas.iter().map(schema).collect(),
        one => schema(one),
    }
}

/// A list whose order means nothing, if it is one of texts.
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

/// A value that is no schema.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(object(members, |_, member| plain(member))),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Number(number) => Value::Number(stable(number)),
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

/// A number that comes out of a file as it went in. A whole one has no fraction: `1.0` is 1. Any other is one that reading
/// gives back, for `serde_json` does not read each fraction to its last bit.
fn stable(number: &Number) -> Number {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.clone();
    };
    if let Some(whole) = whole(number) {
        return whole;
    }
    let rounded = || {
        let rounded = format!("{float:.14e}").parse().ok();
        rounded.and_then(Number::from_f64)
    };
    let stable = read_back(number)
        .or_else(|| rounded().map(|number| read_back(&number).unwrap_or(number)))
        .unwrap_or_else(|| number.clone());
    whole(&stable).unwrap_or(stable)
}

/// A number without a fraction, as an integer.
fn whole(number: &Number) -> Option<Number> {
    /// Below this, each whole number is one `f64`.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    let float = number.as_f64()?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "it is whole, and small enough"
    )]
    (float.fract() == 0.0 && float.abs() < EXACT).then(|| (float as i64).into())
}

/// The number, or the one that reading it over and over ends with.
fn read_back(number: &Number) -> Option<Number> {
    const TRIES: usize = 8;

    let mut number = number.clone();
    for _ in 0..TRIES {
        let read = serde_json::from_str(&number.to_string()).ok()?;
        if read == number {
            return Some(number);
        }
        number = read;
    }
    None
}
