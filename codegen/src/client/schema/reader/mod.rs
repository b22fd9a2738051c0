//! Conversion of a schema to a shape.

mod definition;
mod place;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::definition::Definition;
pub(super) use self::place::Place;
use super::copy::about;
use super::merge_all_of::{flatten, has_form, reference};
use super::pointer::check_base;
use super::shape::{Shape, TypeId};
use super::types::Types;
use super::union::Matches;
use crate::client::budget::Budget;

/// Maximum nesting depth of types; deeper schemas become any JSON. Types of greater depth exceed the `recursion_limit` of
/// rustc.
pub(super) const MAX_DEPTH: usize = 32;
/// Maximum nesting depth of schemas, which exceeds that of types, since a type can have several schemas.
const MAX_NESTED_SCHEMAS: usize = 2 * MAX_DEPTH;

/// Reader of the schemas of one document.
#[derive(Debug)]
pub(in crate::client) struct Reader<'a> {
    pub(super) root: &'a Value,
    pub(super) types: &'a mut Types,
    pub(super) budget: &'a Budget,
    /// Set if null differs from a missing member.
    pub(super) keeps_null: bool,
    /// The prefix of all type names.
    prefix: String,
    definitions: BTreeMap<String, Definition>,
    /// Merged types by the types they merge, so that a recursive type is merged with another only once.
    pub(super) merged: BTreeMap<BTreeSet<TypeId>, TypeId>,
    /// The current nesting depth of schemas.
    reading: usize,
}

impl<'a> Reader<'a> {
    /// Reads a document as a type named `name`. The names of all other types start with `prefix`. With `keeps_null`, members that are
    /// null differ from missing ones, unless they have a default.
    pub(in crate::client) fn read_root(
        root: &'a Value,
        types: &'a mut Types,
        budget: &'a Budget,
        (prefix, name): (&str, &str),
        keeps_null: bool,
    ) -> Shape {
        budget.start_schema();
        let mut reader = Self {
            root,
            types,
            budget,
            keeps_null,
            prefix: prefix.to_owned(),
            definitions: BTreeMap::new(),
            merged: BTreeMap::new(),
            reading: 0,
        };
        let first = reader.types.next_id();
        // A schema can refer to itself with `#`.
        let shape = reader.define(
            "#",
            Place {
                name: name.to_owned(),
                local: None,
                depth: 0,
                definition: Some("#".to_owned()),
            },
        );
        reader.types.replace_cycles(first);
        shape
    }

    pub(super) fn read(&mut self, schema: &Value, place: &Place) -> Shape {
        if let Err(reason) = self.enter(place) {
            return Shape::any(reason);
        }
        let shape = match schema {
            Value::Bool(true) => Shape::Any(None),
            Value::Bool(false) => Shape::any("no value matches the schema"),
            Value::Object(schema) => self.object(schema, place),
            _ => Shape::any("it is not a valid schema"),
        };
        self.reading -= 1;
        shape
    }

    /// Starts reading a schema, if the limits allow it.
    fn enter(&mut self, place: &Place) -> Result<(), String> {
        if place.is_too_deep() || self.reading == MAX_NESTED_SCHEMAS {
            return Err(format!(
                "the schema is nested deeper than {MAX_DEPTH} levels"
            ));
        }
        self.budget.charge_parts(1)?;
        self.budget.charge_steps(1)?;
        self.reading += 1;
        Ok(())
    }

    fn object(&mut self, schema: &Map<String, Value>, place: &Place) -> Shape {
        let is_nullable =
            |schema: &Map<String, Value>| schema.get("nullable") == Some(&Value::Bool(true));
        if let Err(reason) = check_base(self.root, schema, self.budget) {
            return Shape::any(reason);
        }
        if let Some(reference) = reference(schema) {
            let shape = self.definition(reference, place.depth);
            return if is_nullable(schema) {
                shape.or_null()
            } else {
                shape
            };
        }
        if ["$dynamicRef", "$recursiveRef"]
            .iter()
            .any(|key| schema.contains_key(*key))
        {
            return Shape::any("the schema has references that depend on where they are used");
        }
        match flatten(self.root, schema, self.budget) {
            Ok(flat) if is_nullable(&flat) => match self.without(&flat, "nullable") {
                Ok(flat) => self.flat(&flat, &place.same()).or_null(),
                Err(reason) => Shape::any(reason),
            },
            Ok(flat) => self.flat(&flat, place),
            Err(reason) => Shape::any(reason),
        }
    }

    /// Reads a schema without `allOf` and `$ref`.
    fn flat(&mut self, schema: &Map<String, Value>, place: &Place) -> Shape {
        if let Some(value) = schema.get("const") {
            return self.choice(schema, std::slice::from_ref(value), place);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return self.choice(schema, values, place);
        }
        for (key, matches) in [("oneOf", Matches::One), ("anyOf", Matches::Any)] {
            if let Some(Value::Array(alternatives)) = schema.get(key) {
                let mut base = match self.without(schema, key) {
                    Ok(base) => base,
                    Err(reason) => return Shape::any(reason),
                };
                // Another alternative can evaluate members with schemas of its own.
                if let Some(rest @ Value::Object(_)) = base.get_mut("unevaluatedProperties") {
                    *rest = Value::Bool(true);
                }
                if alternatives
                    .iter()
                    .any(|one| has_form(one) || one.is_boolean())
                {
                    return self.union(&base, (alternatives, matches), place);
                }
                return self.flat(&base, place);
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.of_type(name, schema, place),
            Some(Value::Array(names)) => match &names[..] {
                [Value::String(name)] => self.of_type(name, schema, place),
                names => match self.one_by_one(schema, names) {
                    Ok(alternatives) => {
                        self.union(&about(schema), (&alternatives, Matches::Any), place)
                    }
                    Err(reason) => Shape::any(reason),
                },
            },
            _ => match implied_type(schema) {
                Some(name) => self.of_type(name, schema, place),
                None => Shape::Any(None),
            },
        }
    }

    fn of_type(&mut self, name: &str, schema: &Map<String, Value>, place: &Place) -> Shape {
        match name {
            "null" => Shape::Unit,
            "boolean" => Shape::Bool,
            "integer" if is_positive(schema) => Shape::Unsigned,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "string" => Shape::Text,
            "array" => self.list(schema, place),
            "object" => self.record(schema, place),
            "any" => Shape::Any(None),
            name => Shape::any(format!(
                "its type is \"{name}\", which JSON Schema does not know"
            )),
        }
    }
}

/// The type that the keywords imply, if the schema has no `type`.
fn implied_type(schema: &Map<String, Value>) -> Option<&'static str> {
    const KEYWORDS: [(&str, &[&str]); 4] = [
        (
            "object",
            &[
                "properties",
                "required",
                "additionalProperties",
                "patternProperties",
                "propertyNames",
            ],
        ),
        (
            "array",
            &[
                "items",
                "prefixItems",
                "minItems",
                "maxItems",
                "uniqueItems",
                "contains",
            ],
        ),
        ("string", &["minLength", "maxLength", "pattern", "format"]),
        (
            "number",
            &[
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
            ],
        ),
    ];
    let found = KEYWORDS
        .iter()
        .find(|(_, keys)| keys.iter().any(|key| schema.contains_key(*key)));
    found.map(|(name, _)| *name)
}

/// Returns `true` if a number cannot be negative.
fn is_positive(schema: &Map<String, Value>) -> bool {
    ["minimum", "exclusiveMinimum"].iter().any(|key| {
        schema
            .get(*key)
            .and_then(Value::as_f64)
            .is_some_and(|bound| bound >= 0.0)
    })
}
