//! New text in parts that are not compared: below keywords for other types, in new members, in parts without constraints. No
//! value depends on it, but models read whole schemas.

use std::collections::HashSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::schema::Effect;
use crate::compare::schema::path::{Path, Position};
use crate::compare::schema::text::{describe_keyword, plain_text};
use crate::compare::schema::walk::Walk;
use crate::keyword::{KeywordRole, KeywordValue, keyword_role, keyword_value};

/// A text, and the keyword whose value it is.
type Text<'a> = (&'a str, &'a Value);

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Reports texts of the new schema that neither the old schema nor a reported change contains.
    pub(super) fn report_unvisited_text(&mut self) {
        let known = self.collect_old_texts();
        let at = Position {
            direction: super::Direction::Unknown,
            path: self.root_path(),
            depth: 0,
        };
        self.search_unvisited(self.new, &known, at);
    }

    /// Returns all texts of the old schema.
    fn collect_old_texts(&mut self) -> HashSet<Text<'a>> {
        let mut known = HashSet::new();
        let mut open = vec![self.old];
        while let Some(schema) = open.pop() {
            self.take_steps(1 + schema.len() / 8);
            if self.should_stop() {
                break;
            }
            for (name, value) in schema {
                if may_contain_text(name) {
                    known.insert((name.as_str(), value));
                } else {
                    open.extend(
                        subschemas(name, value).filter_map(|(_, schema)| schema.as_object()),
                    );
                }
            }
        }
        known
    }

    /// Searches a schema. The recursion is at most as deep as the JSON parser allows.
    fn search_unvisited(
        &mut self,
        schema: &'a JsonObject,
        known: &HashSet<Text<'a>>,
        at: Position<'_>,
    ) {
        self.take_steps(1 + schema.len() / 8);
        if self.should_stop() {
            return;
        }
        if at.depth > self.entry.limits().depth.saturating_mul(2) {
            let message = "nested too deeply to compare";
            return self.report_effect(Effect::Changed, at, message);
        }
        for (name, value) in schema {
            if self.reported.contains(&std::ptr::from_ref(value)) {
                continue;
            }
            let path = at.path.key(name);
            if may_contain_text(name) {
                if !known.contains(&(name.as_str(), value)) {
                    self.report_text(name, value, path);
                }
                continue;
            }
            for (step, schema) in subschemas(name, value) {
                let is_reported = self.reported.contains(&std::ptr::from_ref(schema));
                let Some(members) = schema.as_object().filter(|_| !is_reported) else {
                    continue;
                };
                let path = match step {
                    Step::Here => path,
                    Step::Key(name) => path.key(name),
                    Step::Index(index) => path.index(index),
                };
                self.search_unvisited(members, known, at.descend(path));
            }
        }
    }

    fn report_text(&mut self, name: &str, value: &Value, path: Path<'_>) {
        let path = path.render(self.entry.limits().text_bytes);
        let text = plain_text(value);
        let severity = Severity::Wording;
        self.entry.report_text(
            severity,
            &path,
            &describe_keyword(name),
            (None, Some(&text)),
        );
    }
}

/// Returns `true` if the value of a keyword may contain text for a model: annotations, and arbitrary strings such as patterns.
fn may_contain_text(keyword: &str) -> bool {
    keyword_role(keyword) == KeywordRole::Annotation
        || matches!(
            keyword,
            "contentEncoding" | "contentMediaType" | "format" | "pattern"
        )
}

/// Path from a keyword to a schema in its value.
enum Step<'a> {
    Here,
    Key(&'a str),
    Index(usize),
}

/// Returns the schemas in the value of a keyword.
fn subschemas<'a>(
    keyword: &str,
    value: &'a Value,
) -> Box<dyn Iterator<Item = (Step<'a>, &'a Value)> + 'a> {
    match (keyword_value(keyword), value) {
        (KeywordValue::Schemas, Value::Array(schemas)) => {
            let schemas = schemas.iter().enumerate();
            Box::new(schemas.map(|(index, schema)| (Step::Index(index), schema)))
        }
        (KeywordValue::Schemas, one) => Box::new(std::iter::once((Step::Here, one))),
        (KeywordValue::SchemaMap, Value::Object(members)) => Box::new(
            members
                .iter()
                .map(|(name, schema)| (Step::Key(name), schema)),
        ),
        _ => Box::new(std::iter::empty()),
    }
}
