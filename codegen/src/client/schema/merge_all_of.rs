//! Merge of schemas that apply together: `allOf`, and `$ref` with other keywords.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::pointer::{check_base, resolve};
use crate::client::budget::Budget;

/// Keywords that do not constrain values.
const ANNOTATIONS: [&str; 18] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "$vocabulary",
    "summary",
];

/// Keywords that locate schemas for references. A copy is without them, because its references are resolved in the document.
pub(super) const LOCATIONS: [&str; 3] = ["$defs", "definitions", "$id"];

/// Keywords that constrain values without describing their shape.
const CONSTRAINTS: [&str; 11] = [
    "required",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minProperties",
    "maxProperties",
    "propertyNames",
];

/// Maximum depth of references in `allOf`, and maximum number of merged schemas.
const MAX_DEPTH: usize = 32;
const MAX_SCHEMAS: usize = 128;

/// Merges a schema into one without `allOf` and `$ref`. The error is the reason for any JSON.
pub(super) fn flatten<'a>(
    root: &Value,
    schema: &'a Map<String, Value>,
    budget: &Budget,
) -> Result<Cow<'a, Map<String, Value>>, String> {
    if !["$ref", "allOf"]
        .iter()
        .any(|key| schema.contains_key(*key))
    {
        return Ok(Cow::Borrowed(schema));
    }
    let mut flat = Flat {
        root,
        path: Vec::new(),
        left: MAX_SCHEMAS,
        budget,
    };
    flat.object(schema).map(Cow::Owned)
}

/// Returns `true` for a keyword that does not constrain values.
pub(super) fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&key) || key.starts_with("x-")
}

/// Returns the reference of a schema without other constraints.
pub(super) fn reference(schema: &Map<String, Value>) -> Option<&str> {
    let reference = schema.get("$ref")?.as_str()?;
    let is_alone = schema.keys().all(|key| key == "$ref" || is_annotation(key));
    is_alone.then_some(reference)
}

/// Returns `true` if a schema describes the shape of values.
pub(super) fn has_form(schema: &Value) -> bool {
    let is_form = |key: &String| !is_annotation(key) && !CONSTRAINTS.contains(&&**key);
    schema
        .as_object()
        .is_some_and(|schema| schema.keys().any(is_form))
}

/// Returns `true` if a schema describes an object that has no members.
pub(in crate::client) fn is_without_members(schema: &Value) -> bool {
    let is_empty = |(key, value): (&String, &Value)| match &**key {
        // A tool is never called with another type.
        "type" => types(value).any(|name| name == "object"),
        "properties" => value.as_object().is_some_and(Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == false,
        key => is_annotation(key),
    };
    schema
        .as_object()
        .is_some_and(|schema| schema.iter().all(is_empty))
}

/// Returns the names in `type`: one, or a list.
fn types(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().chain((!value.is_array()).then_some(value))
}

struct Flat<'a> {
    root: &'a Value,
    path: Vec<String>,
    left: usize,
    budget: &'a Budget,
}

impl Flat<'_> {
    fn object(&mut self, schema: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or("it merges too many schemas")?;
        check_base(self.root, schema, self.budget)?;
        let is_copied = |key: &str| key != "$ref" && key != "allOf" && !LOCATIONS.contains(&key);
        let own = schema.iter().filter(|(key, _)| is_copied(key));
        self.budget
            .charge_copies(own.clone().map(|(_, value)| value))?;
        let mut flat = own
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let path = self.path.len();
            if self.path.contains(reference) {
                return Err("its references form a cycle".to_owned());
            }
            if path > MAX_DEPTH {
                return Err(format!(
                    "its references are nested deeper than {MAX_DEPTH} levels"
                ));
            }
            let target = resolve(self.root, reference, self.budget)?;
            self.path.push(reference.clone());
            self.merge(&mut flat, target)?;
            self.path.truncate(path);
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            for part in parts {
                self.merge(&mut flat, part)?;
            }
        }
        Ok(flat)
    }

    fn merge(&mut self, flat: &mut Map<String, Value>, part: &Value) -> Result<(), String> {
        match part {
            Value::Bool(true) => Ok(()),
            Value::Object(part) => {
                let part = self.object(part)?;
                part.into_iter()
                    .try_for_each(|(key, value)| add(flat, key, value))
            }
            _ => Err("no value matches it".to_owned()),
        }
    }
}

/// Merges a keyword of another schema.
fn add(flat: &mut Map<String, Value>, key: String, value: Value) -> Result<(), String> {
    let Some(old) = flat.get_mut(&key) else {
        flat.insert(key, value);
        return Ok(());
    };
    if key == "nullable" && value == false {
        *old = value;
        return Ok(());
    }
    if *old == value || ANNOTATIONS.contains(&&*key) {
        return Ok(());
    }
    match (&*key, old, value) {
        (
            "properties" | "patternProperties" | "dependentSchemas" | "dependentRequired"
            | "dependencies",
            Value::Object(old),
            Value::Object(new),
        ) => add_properties(old, new),
        ("required", Value::Array(old), Value::Array(new)) => add_names(old, new),
        ("type", old, new) => *old = common_types(old, &new)?,
        ("enum", Value::Array(old), Value::Array(new)) => {
            let new: HashSet<Value> = new.into_iter().collect();
            old.retain(|value| new.contains(value));
        }
        // The branches of several conditions are only searched for members.
        ("additionalProperties" | "items" | "if" | "then" | "else", old, new) => {
            *old = both(old.take(), new);
        }
        ("anyOf" | "oneOf", Value::Array(old), Value::Array(new)) => {
            if !new.iter().any(has_form) {
                return Ok(());
            }
            if old.iter().any(has_form) {
                return Err(format!("it has more than one `{key}`"));
            }
            *old = new;
        }
        ("prefixItems", ..) => return Err("it has more than one `prefixItems`".to_owned()),
        ("const", ..) => return Err("no value matches it".to_owned()),
        // Constraints only appear in the documentation, where one of them suffices.
        _ => {}
    }
    Ok(())
}

fn add_properties(old: &mut Map<String, Value>, new: Map<String, Value>) {
    for (name, schema) in new {
        match old.get_mut(&name) {
            Some(first) if *first == schema => {}
            Some(first) => *first = json!({ "allOf": [first.take(), schema] }),
            None => {
                old.insert(name, schema);
            }
        }
    }
}

/// Adds the names that are not in the list yet.
fn add_names(old: &mut Vec<Value>, new: Vec<Value>) {
    let known: HashSet<&Value> = old.iter().collect();
    let new = new.into_iter().filter(|name| !known.contains(name));
    let new: Vec<_> = new.collect();
    old.extend(new);
}

/// Returns a schema of the values that match both schemas.
fn both(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (Value::Bool(true), schema) | (schema, Value::Bool(true)) => schema,
        (one, other) => json!({ "allOf": [one, other] }),
    }
}

fn common_types(one: &Value, other: &Value) -> Result<Value, String> {
    let list = |types: &Value| match types {
        Value::Array(types) => types.clone(),
        name => vec![name.clone()],
    };
    let (one, other) = (list(one), list(other));
    let found: HashSet<&Value> = other.iter().collect();
    let has = |types: &[Value], name: &str| types.iter().any(|found| found == name);
    let mut common = one.clone();
    common.retain(|name| found.contains(name));
    // An integer is a number.
    if has(&one, "integer") != has(&other, "integer")
        && (has(&one, "number") || has(&other, "number"))
    {
        common.push("integer".into());
    }
    match common.len() {
        0 => Err("no value matches it".to_owned()),
        1 => Ok(common.remove(0)),
        _ => Ok(Value::Array(common)),
    }
}
