//! Words that have come where nothing is compared: below keywords for other types, in members that are new, in parts that
//! allow all. No value depends on them, but models read whole schemas.

use std::collections::HashSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::schema::Effect;
use crate::compare::schema::path::Path;
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::words::{text, what};
use crate::keyword::{Does, Holds, does, holds};

/// Something that is told, and the keyword that it is the value of.
type Told<'a> = (&'a str, &'a Value);

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Tells of words in the new schema that are not in the old one, and not in a change yet.
    pub(super) fn untold(&mut self) {
        let known = self.known();
        let at = At {
            role: super::Role::Unclear,
            path: self.root(),
            depth: 0,
        };
        self.untold_in(self.new, &known, at);
    }

    /// All that the old schema tells.
    fn known(&mut self) -> HashSet<Told<'a>> {
        let mut known = HashSet::new();
        let mut open = vec![self.old];
        while let Some(schema) = open.pop() {
            self.step(1 + schema.len() / 8);
            if self.is_over() {
                break;
            }
            for (name, value) in schema {
                if tells(name) {
                    known.insert((name.as_str(), value));
                } else {
                    open.extend(schemas(name, value).filter_map(|(_, schema)| schema.as_object()));
                }
            }
        }
        known
    }

    /// Goes as deep as the schema is written, which is less than what a reader of JSON allows.
    fn untold_in(&mut self, schema: &'a JsonObject, known: &HashSet<Told<'a>>, at: At<'_>) {
        self.step(1 + schema.len() / 8);
        if self.is_over() {
            return;
        }
        if at.depth > self.entry.limits().depth.saturating_mul(2) {
            let message = "it is nested too deeply to be compared";
            return self.effect(Effect::Changed, at, message);
        }
        for (name, value) in schema {
            if self.shown.contains(&std::ptr::from_ref(value)) {
                continue;
            }
            let path = at.path.key(name);
            if tells(name) {
                if !known.contains(&(name.as_str(), value)) {
                    self.untold_word(name, value, path);
                }
                continue;
            }
            for (step, schema) in schemas(name, value) {
                let is_shown = self.shown.contains(&std::ptr::from_ref(schema));
                let Some(members) = schema.as_object().filter(|_| !is_shown) else {
                    continue;
                };
                let path = match step {
                    Step::Here => path,
                    Step::Key(name) => path.key(name),
                    Step::Index(index) => path.index(index),
                };
                self.untold_in(members, known, at.to(path));
            }
        }
    }

    fn untold_word(&mut self, name: &str, value: &Value, path: Path<'_>) {
        let path = path.written(self.entry.limits().text_bytes);
        let text = text(value);
        let severity = Severity::Wording;
        self.entry
            .differ(severity, &path, &what(name), (None, Some(&text)));
    }
}

/// Whether the value of a keyword may be text that a model reads: words, and forms, which are any text.
fn tells(keyword: &str) -> bool {
    does(keyword) == Does::Tell
        || matches!(
            keyword,
            "contentEncoding" | "contentMediaType" | "format" | "pattern"
        )
}

/// The way from a keyword to a schema in its value.
enum Step<'a> {
    Here,
    Key(&'a str),
    Index(usize),
}

/// The schemas in the value of a keyword.
fn schemas<'a>(
    keyword: &str,
    value: &'a Value,
) -> Box<dyn Iterator<Item = (Step<'a>, &'a Value)> + 'a> {
    match (holds(keyword), value) {
        (Holds::Schema, Value::Array(schemas)) => {
            let schemas = schemas.iter().enumerate();
            Box::new(schemas.map(|(index, schema)| (Step::Index(index), schema)))
        }
        (Holds::Schema, one) => Box::new(std::iter::once((Step::Here, one))),
        (Holds::Named, Value::Object(members)) => Box::new(
            members
                .iter()
                .map(|(name, schema)| (Step::Key(name), schema)),
        ),
        _ => Box::new(std::iter::empty()),
    }
}
