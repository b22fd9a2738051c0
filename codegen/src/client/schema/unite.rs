//! One schema out of several that hold at once: `allOf`, and `$ref` with something beside it.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::pointer::resolve;
use crate::client::budget::Budget;

/// Members that say nothing about values.
const SAYS_NOTHING: [&str; 18] = [
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

/// Members with schemas that count only where they are referred to.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Members that bound values without saying what they look like.
const BOUNDS: [&str; 11] = [
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

/// How many references deep `allOf` may lead, and how many schemas it may unite.
const DEEPEST: usize = 32;
const MOST: usize = 128;

/// The object of a schema without `allOf` and `$ref`, or why there is none.
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
        left: MOST,
        budget,
    };
    flat.object(schema).map(Cow::Owned)
}

/// The reference that a schema is, if it is nothing else.
pub(super) fn reference(schema: &Map<String, Value>) -> Option<&str> {
    let reference = schema.get("$ref")?.as_str()?;
    let is_alone = schema
        .keys()
        .all(|key| key == "$ref" || key.starts_with("x-") || SAYS_NOTHING.contains(&&**key));
    is_alone.then_some(reference)
}

/// Whether a schema says what values look like.
pub(super) fn has_form(schema: &Value) -> bool {
    let is_form = |key: &String| {
        !SAYS_NOTHING.contains(&&**key) && !BOUNDS.contains(&&**key) && !key.starts_with("x-")
    };
    schema
        .as_object()
        .is_some_and(|schema| schema.keys().any(is_form))
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
            .ok_or("it is united from too many schemas")?;
        let is_copied = |key: &str| key != "$ref" && key != "allOf" && !DEFINITIONS.contains(&key);
        let own = schema.iter().filter(|(key, _)| is_copied(key));
        self.budget.copies(own.clone().map(|(_, value)| value))?;
        let mut flat = own
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let path = self.path.len();
            if self.path.contains(reference) || path > DEEPEST {
                return Err("it refers to itself before it says anything".to_owned());
            }
            let target = resolve(self.root, reference, self.budget)?;
            self.path.push(reference.clone());
            self.unite(&mut flat, target)?;
            self.path.truncate(path);
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            for part in parts {
                self.unite(&mut flat, part)?;
            }
        }
        Ok(flat)
    }

    fn unite(&mut self, flat: &mut Map<String, Value>, part: &Value) -> Result<(), String> {
        match part {
            Value::Bool(true) => Ok(()),
            Value::Object(part) => {
                let part = self.object(part)?;
                part.into_iter()
                    .try_for_each(|(key, value)| add(flat, key, value))
            }
            _ => Err("no value fits it".to_owned()),
        }
    }
}

/// Adds a keyword of another schema that holds too.
fn add(flat: &mut Map<String, Value>, key: String, value: Value) -> Result<(), String> {
    let Some(old) = flat.get_mut(&key) else {
        flat.insert(key, value);
        return Ok(());
    };
    if *old == value || SAYS_NOTHING.contains(&&*key) {
        return Ok(());
    }
    match (&*key, old, value) {
        ("properties" | "patternProperties", Value::Object(old), Value::Object(new)) => {
            for (name, schema) in new {
                let both = match old.shift_remove(&name) {
                    Some(old) if old != schema => json!({ "allOf": [old, schema] }),
                    _ => schema,
                };
                old.insert(name, both);
            }
        }
        ("required", Value::Array(old), Value::Array(new)) => {
            let known: HashSet<&Value> = old.iter().collect();
            let new = new.into_iter().filter(|name| !known.contains(name));
            let new: Vec<_> = new.collect();
            old.extend(new);
        }
        ("type", old, new) => *old = common_types(old, &new)?,
        ("enum", Value::Array(old), Value::Array(new)) => {
            let new: HashSet<Value> = new.into_iter().collect();
            old.retain(|value| new.contains(value));
        }
        ("additionalProperties" | "items", old, new) => {
            *old = match (old.take(), new) {
                (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
                (Value::Bool(true), new) => new,
                (old, Value::Bool(true)) => old,
                (old, new) => json!({ "allOf": [old, new] }),
            };
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
        ("const", ..) => return Err("no value fits it".to_owned()),
        // Bounds are said only, and one of them is enough.
        _ => {}
    }
    Ok(())
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
        0 => Err("no value fits it".to_owned()),
        1 => Ok(common.remove(0)),
        _ => Ok(Value::Array(common)),
    }
}
