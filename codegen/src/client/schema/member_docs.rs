//! Documentation of a member from its schema and those that it refers to.

use serde_json::{Map, Value};

use super::bounds::{description, notes};
use super::pointer::{check_base, resolve};
use super::reader::Reader;
use super::shape::Shape;
use super::union::is_null;
use super::values::MAX_CONSTANTS;
use crate::client::budget::Budget;

/// Maximum number of schemas that document a member.
const MAX_SCHEMAS: usize = 16;
/// Keywords with texts in the documentation.
const TEXTS: [&str; 7] = [
    "title",
    "description",
    "default",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
];

/// Documentation of a member.
#[derive(Debug, Default)]
pub(super) struct MemberDocs {
    pub description: Option<String>,
    pub notes: Vec<String>,
    /// True if the notes contain the default, which is the first one.
    has_default: bool,
}

impl Reader<'_> {
    /// Collects the documentation of a member with this shape.
    pub(super) fn member_docs(&self, schema: &Value, shape: &Shape) -> MemberDocs {
        let mut collector = Collector {
            root: self.root,
            budget: self.budget,
            left: MAX_SCHEMAS,
        };
        let mut docs = MemberDocs::default();
        collector.add(&mut docs, schema, shape);
        docs
    }
}

struct Collector<'a> {
    root: &'a Value,
    budget: &'a Budget,
    left: usize,
}

impl<'a> Collector<'a> {
    fn add(&mut self, docs: &mut MemberDocs, schema: &Value, shape: &Shape) {
        let (Some(schema), Some(left)) = (schema.as_object(), self.left.checked_sub(1)) else {
            return;
        };
        self.left = left;
        let shape = match shape {
            Shape::Nullable(inner) => inner,
            shape => shape,
        };
        docs.add(schema);
        if *shape == Shape::Text && constants(schema) > MAX_CONSTANTS {
            let note = format!("One of more than {MAX_CONSTANTS} constants of the schema.");
            docs.add_note(note);
        }
        match shape {
            // A named type has documentation of its own.
            Shape::Named(_) => return,
            Shape::List(item) => self.add_inner(docs, schema.get("items"), item, "item"),
            Shape::Map(value) => {
                self.add_inner(docs, schema.get("additionalProperties"), value, "value");
            }
            _ => {}
        }
        if check_base(self.root, schema, self.budget).is_err() {
            return;
        }
        if let Some(Value::String(reference)) = schema.get("$ref")
            && let Some(target) = self.target(reference)
        {
            self.add(docs, target, shape);
        }
        let parts = schema.get("allOf").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.add(docs, part, shape);
        }
        for key in ["oneOf", "anyOf"] {
            let alternatives = schema.get(key).and_then(Value::as_array);
            let values = alternatives
                .into_iter()
                .flatten()
                .filter(|schema| !is_null(schema));
            if let [only] = values.collect::<Vec<_>>()[..] {
                self.add(docs, only, shape);
            }
        }
    }

    /// Adds the notes about an item or a value.
    fn add_inner(
        &mut self,
        docs: &mut MemberDocs,
        schema: Option<&Value>,
        shape: &Shape,
        noun: &str,
    ) {
        let (Some(schema), None) = (schema, shape.id()) else {
            return;
        };
        let mut inner = MemberDocs::default();
        self.add(&mut inner, schema, shape);
        for note in inner.notes {
            let first: String = note.chars().take(1).flat_map(char::to_lowercase).collect();
            let rest: String = note.chars().skip(1).collect();
            docs.add_note(format!("Each {noun}: {first}{rest}"));
        }
    }

    /// The target of a reference. Its texts are charged, because each member with a reference repeats them.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        // The search for an anchor visits all definitions.
        if reference != "#" && !reference.starts_with("#/") {
            return None;
        }
        let target = resolve(self.root, reference, self.budget).ok()?;
        let texts = TEXTS.iter().filter_map(|key| target.get(key));
        self.budget.charge_docs(texts).ok()?;
        Some(target)
    }
}

impl MemberDocs {
    fn add(&mut self, schema: &Map<String, Value>) {
        if self.description.is_none() {
            self.description = description(schema);
        }
        let default = schema.get("default").filter(|_| !self.has_default);
        self.has_default |= default.is_some();
        for note in notes(schema, default) {
            self.add_note(note);
        }
    }

    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn constants(schema: &Map<String, Value>) -> usize {
    schema
        .get("enum")
        .and_then(Value::as_array)
        .map_or(0, Vec::len)
}
