//! Reads a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::bounds::description;
use super::copy::about;
use super::pointer::{last, normal, resolve};
use super::shape::{Kind, Shape, TypeId};
use super::types::Types;
use super::unite::{flatten, has_form, reference};
use crate::client::budget::Budget;
use crate::client::name::{pascal, singular};

/// How deep types are nested. Beyond that, there is any JSON. Types that are nested deeper than this exceed the
/// `recursion_limit` of rustc.
pub(super) const DEEPEST: usize = 32;
/// How many schemas are read one within the other: more than types, since one type may have several.
const MOST_AT_ONCE: usize = 2 * DEEPEST;
/// A longer name has only its last part.
const LONGEST_NAME: usize = 80;

/// Reads the schemas of one document.
#[derive(Debug)]
pub(in crate::client) struct Reader<'a> {
    root: &'a Value,
    pub(super) types: &'a mut Types,
    pub(super) budget: &'a Budget,
    /// What all names of types begin with.
    prefix: String,
    definitions: BTreeMap<String, Definition>,
    /// What the types with these members together are: a type that refers to itself is merged with another only once.
    pub(super) merged: BTreeMap<BTreeSet<TypeId>, TypeId>,
    /// How many schemas are being read, one within the other.
    reading: usize,
}

/// What is known of what a reference refers to.
#[derive(Clone, Debug)]
enum Definition {
    /// It is being read, and has a type with a name if it was referred to.
    Begun(Option<TypeId>),
    Read(Shape),
}

/// Where a schema is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// What a type would be called.
    pub name: String,
    /// What it is called where it stands.
    local: Option<String>,
    depth: usize,
    /// The reference to it, if it is nothing but what that refers to.
    definition: Option<String>,
}

impl Place {
    /// A part of it, of another type.
    pub(super) fn part(&self, name: &str) -> Self {
        let local = pascal(name);
        self.inner(format!("{}{local}", self.name), Some(local))
    }

    /// One of its parts.
    pub(super) fn item(&self, otherwise: &str) -> Self {
        let local = self
            .local
            .as_deref()
            .map(|local| singular(local, otherwise));
        self.inner(singular(&self.name, otherwise), local)
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.depth > DEEPEST
    }

    /// The same value, of another type.
    pub(super) fn same(&self) -> Self {
        Self {
            definition: None,
            ..self.clone()
        }
    }

    fn inner(&self, name: String, local: Option<String>) -> Self {
        // Names do not grow with the depth for ever.
        let short = local.clone().filter(|_| name.len() > LONGEST_NAME);
        Self {
            name: short.unwrap_or(name),
            local,
            depth: self.depth + 1,
            definition: None,
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads a document as a type that is called `name`; all others have names that begin with `prefix`.
    pub(in crate::client) fn read_root(
        root: &'a Value,
        types: &'a mut Types,
        budget: &'a Budget,
        (prefix, name): (&str, &str),
    ) -> Shape {
        budget.begin_schema();
        let mut reader = Self {
            root,
            types,
            budget,
            prefix: prefix.to_owned(),
            definitions: BTreeMap::new(),
            merged: BTreeMap::new(),
            reading: 0,
        };
        // A schema may refer to itself as a whole.
        reader.define(
            "#",
            Place {
                name: name.to_owned(),
                local: None,
                depth: 0,
                definition: Some("#".to_owned()),
            },
        )
    }

    pub(super) fn read(&mut self, schema: &Value, place: &Place) -> Shape {
        if let Err(reason) = self.enter(place) {
            return Shape::any(reason);
        }
        let shape = match schema {
            Value::Bool(true) => Shape::Any(None),
            Value::Bool(false) => Shape::any("no value fits the schema"),
            Value::Object(schema) => self.object(schema, place),
            _ => Shape::any("what stands there is no schema"),
        };
        self.reading -= 1;
        shape
    }

    /// Begins to read a schema, unless that is too much.
    fn enter(&mut self, place: &Place) -> Result<(), String> {
        if place.is_too_deep() || self.reading == MOST_AT_ONCE {
            return Err(format!("the schema is nested deeper than {DEEPEST} levels"));
        }
        self.budget.parts(1)?;
        self.budget.steps(1)?;
        self.reading += 1;
        Ok(())
    }

    fn object(&mut self, schema: &Map<String, Value>, place: &Place) -> Shape {
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            return match self.without(schema, "nullable") {
                Ok(schema) => self.object(&schema, &place.same()).or_null(),
                Err(reason) => Shape::any(reason),
            };
        }
        if let Some(reference) = reference(schema) {
            return self.definition(reference, place.depth);
        }
        if ["$dynamicRef", "$recursiveRef"]
            .iter()
            .any(|key| schema.contains_key(*key))
        {
            return Shape::any("the schema has references that depend on where they are used");
        }
        match flatten(self.root, schema, self.budget) {
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
        for key in ["oneOf", "anyOf"] {
            if let Some(Value::Array(alternatives)) = schema.get(key) {
                let base = match self.without(schema, key) {
                    Ok(base) => base,
                    Err(reason) => return Shape::any(reason),
                };
                if alternatives
                    .iter()
                    .any(|one| has_form(one) || one.is_boolean())
                {
                    return self.union(&base, alternatives, place);
                }
                return self.flat(&base, place);
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.of_type(name, schema, place),
            Some(Value::Array(names)) => match &names[..] {
                [Value::String(name)] => self.of_type(name, schema, place),
                names => match self.one_by_one(schema, names) {
                    Ok(alternatives) => self.union(&about(schema), &alternatives, place),
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

    fn definition(&mut self, reference: &str, depth: usize) -> Shape {
        let reference = &*normal(reference);
        let types = &mut *self.types;
        match self.definitions.get_mut(reference) {
            Some(Definition::Read(shape)) => shape.clone(),
            Some(Definition::Begun(id)) => {
                let name = format!("{}{}", self.prefix, pascal(last(reference)));
                Shape::Named(*id.get_or_insert_with(|| types.reserve(name)))
            }
            None => {
                let name = format!("{}{}", self.prefix, pascal(last(reference)));
                self.define(
                    reference,
                    Place {
                        name,
                        local: Some(pascal(last(reference))),
                        depth: depth + 1,
                        definition: Some(reference.to_owned()),
                    },
                )
            }
        }
    }

    fn define(&mut self, reference: &str, place: Place) -> Shape {
        let target = match resolve(self.root, reference, self.budget) {
            Ok(target) => target,
            Err(reason) => return Shape::any(reason),
        };
        self.definitions
            .insert(reference.to_owned(), Definition::Begun(None));
        let mut shape = self.read(target, &place);
        if let Some(Definition::Begun(Some(id))) = self.definitions.get(reference) {
            let ty = self.types.get_mut(*id);
            if shape != Shape::Named(*id) {
                ty.description = target.as_object().and_then(description);
                ty.wanted = place.name;
                ty.kind = Kind::Newtype(std::mem::replace(&mut shape, Shape::Named(*id)));
            } else if matches!(ty.kind, Kind::Unknown) {
                ty.kind = Kind::Newtype(Shape::any("the schema refers to nothing but itself"));
            }
        }
        self.definitions
            .insert(reference.to_owned(), Definition::Read(shape.clone()));
        shape
    }

    /// Says that a type is an object, before its members are known.
    pub(super) fn is_merging(&mut self, id: TypeId) {
        self.types.get_mut(id).kind = Kind::Merging;
    }

    /// The type that a place has, before its parts are read.
    pub(super) fn begin(&mut self, place: &Place) -> TypeId {
        let definition = place
            .definition
            .as_ref()
            .and_then(|name| self.definitions.get_mut(name));
        let types = &mut *self.types;
        let id = match definition {
            Some(Definition::Begun(id)) => *id.get_or_insert_with(|| types.reserve(String::new())),
            _ => types.reserve(String::new()),
        };
        let ty = types.get_mut(id);
        ty.wanted.clone_from(&place.name);
        ty.local.clone_from(&place.local);
        id
    }

    /// Says what the type is.
    pub(super) fn finish(&mut self, id: TypeId, description: Option<String>, kind: Kind) -> Shape {
        let ty = self.types.get_mut(id);
        ty.description = description;
        ty.kind = kind;
        Shape::Named(id)
    }

    /// A type at once.
    pub(super) fn named(
        &mut self,
        place: &Place,
        description: Option<String>,
        kind: Kind,
    ) -> Shape {
        let id = self.begin(place);
        self.finish(id, description, kind)
    }
}

/// The type that the keywords are about, where none is named.
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

/// Whether a number is never below zero.
fn is_positive(schema: &Map<String, Value>) -> bool {
    ["minimum", "exclusiveMinimum"].iter().any(|key| {
        schema
            .get(*key)
            .and_then(Value::as_f64)
            .is_some_and(|bound| bound >= 0.0)
    })
}
