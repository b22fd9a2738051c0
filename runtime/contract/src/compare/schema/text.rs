//! Comparison of text for people and models, and of unreferenced definitions.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::json_schema::{DEFINITIONS, tokens};
use treenail_schema::internal::quoted;

use crate::Severity;
use crate::compare::schema::Direction;
use crate::compare::schema::normalize::{Node, Normalized, resolve};
use crate::compare::schema::path::Position;
use crate::compare::schema::walk::Walk;
use crate::keyword::{KeywordRole, keyword_role};

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares texts and defaults. The texts of a schema and of the schemas that it refers to apply to the same position.
    /// Each difference is reported once, even if there are several references.
    pub(super) fn compare_texts(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        let layers = old.layers.iter().chain(&new.layers);
        let names = layers.flat_map(|members| members.keys());
        let names: BTreeSet<&String> = names
            .filter(|name| keyword_role(name) == KeywordRole::Annotation)
            .collect();
        for name in names {
            let values = |schema: &Normalized<'a>| -> Vec<&'a Value> {
                let layers = schema.layers.iter();
                layers.filter_map(|members| members.get(name)).collect()
            };
            self.take_steps((old.layers.len() + new.layers.len()) / 8);
            if self.should_stop() {
                return;
            }
            let (old, new) = (values(old), values(new));
            let (old, new) = self.trim_equal(&old, &new);
            self.take_steps((old.len() + new.len()) / 8);
            for index in 0..old.len().max(new.len()) {
                self.compare_text(name, old.get(index).copied(), new.get(index).copied(), at);
            }
        }
    }

    fn compare_text(
        &mut self,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
        at: Position<'_>,
    ) {
        let addresses = (old.map_or(0, address), new.map_or(0, address));
        if !self.reported_texts.insert(addresses) {
            return;
        }
        if let (Some(old), Some(new)) = (old, new) {
            if self.are_equal_texts(old, new) {
                return;
            }
        }
        self.reported.extend(new.map(std::ptr::from_ref));
        // A call without the argument now behaves differently.
        let severity = match (name, at.direction) {
            ("default", Direction::Input) => Severity::Additive,
            _ => Severity::Wording,
        };
        let path = at.path.key(name);
        let path = path.render(self.entry.limits().text_bytes);
        let description = describe_keyword(name);
        let (old, new) = (old.map(plain_text), new.map(plain_text));
        let texts = (old.as_deref(), new.as_deref());
        self.entry.report_text(severity, &path, &description, texts);
    }

    /// Removes the common prefix and suffix of two lists of texts.
    fn trim_equal<'s>(
        &mut self,
        old: &'s [&'a Value],
        new: &'s [&'a Value],
    ) -> (&'s [&'a Value], &'s [&'a Value]) {
        let mut same = |(old, new): &(&&'a Value, &&'a Value)| self.are_equal_texts(old, new);
        let before = old.iter().zip(new).take_while(&mut same).count();
        let (old, new) = (&old[before..], &new[before..]);
        let pairs = old.iter().rev().zip(new.iter().rev());
        let after = pairs.take_while(&mut same).count();
        (&old[..old.len() - after], &new[..new.len() - after])
    }

    /// Compares two texts once, because many references may lead to long ones.
    fn are_equal_texts(&mut self, old: &Value, new: &Value) -> bool {
        let addresses = (address(old), address(new));
        let result = self.compared_texts.entry(addresses);
        *result.or_insert_with(|| old == new)
    }

    /// Compares all definitions, because an unresolved reference may refer to any of them.
    pub(super) fn compare_definitions(&mut self, at: Position<'_>) {
        if !self.is_probing() && std::mem::replace(&mut self.compared_definitions, true) {
            return;
        }
        let root = self.root_path();
        for keyword in DEFINITIONS {
            let path = root.key(keyword);
            let old = members(self.old.get(keyword));
            let new = members(self.new.get(keyword));
            let names = [old, new].into_iter().flatten().flat_map(|all| all.keys());
            for name in names.collect::<BTreeSet<_>>() {
                let at = at.descend(path.key(name)).in_direction(Direction::Unknown);
                let schema = |all: Option<&'a JsonObject>| all.and_then(|all| all.get(name));
                match (schema(old), schema(new)) {
                    (Some(old), Some(new)) => self.compare(Node::of(old), Node::of(new), at),
                    _ => self.report_changed(at),
                }
            }
        }
    }

    /// Reports differences of unreferenced definitions, because models may read them.
    pub(super) fn report_unused_definitions(&mut self) {
        if self.compared_definitions {
            return;
        }
        let root = self.root_path();
        let used = used_definitions(self.new);
        for keyword in DEFINITIONS {
            let old = members(self.old.get(keyword));
            let keyword_path = root.key(keyword);
            for (name, schema) in members(self.new.get(keyword)).into_iter().flatten() {
                let before = old.and_then(|old| old.get(name));
                if before == Some(schema) || used.contains(&(keyword, name)) {
                    continue;
                }
                self.reported.insert(std::ptr::from_ref(schema));
                let path = keyword_path.key(name);
                let path = path.render(self.entry.limits().text_bytes);
                let (before, schema) = (before.map(Value::to_string), schema.to_string());
                let what = "an unreferenced definition";
                self.entry
                    .report_wording(&path, what, before.as_deref(), Some(&schema));
            }
        }
    }
}

/// Returns the keywords and names of the referenced definitions of a schema.
fn used_definitions(root: &JsonObject) -> HashSet<(&str, &str)> {
    let mut used = HashSet::new();
    let members = root.iter();
    let mut open: Vec<&Value> = members
        .filter(|(name, _)| !DEFINITIONS.contains(&name.as_str()))
        .map(|(_, value)| value)
        .collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                open.extend(members.values());
                let reference = members.get("$ref").and_then(Value::as_str);
                let definition = reference.and_then(|reference| find_definition(root, reference));
                if let Some((keyword, name, schema)) = definition {
                    if used.insert((keyword, name)) {
                        open.push(schema);
                    }
                }
            }
            _ => {}
        }
    }
    used
}

/// Finds the definition that contains the target of a reference.
fn find_definition<'a>(
    root: &'a JsonObject,
    reference: &str,
) -> Option<(&'a str, &'a str, &'a Value)> {
    let (pointer, _) = resolve(root, reference)?;
    let mut tokens = tokens(&pointer);
    let (keyword, name) = (tokens.next()?, tokens.next()?);
    let keyword = DEFINITIONS.into_iter().find(|other| *other == keyword)?;
    let (name, schema) = members(root.get(keyword))?.get_key_value(&*name)?;
    Some((keyword, name, schema))
}

/// Returns the members of an object.
pub(super) fn members(value: Option<&Value>) -> Option<&JsonObject> {
    value.and_then(Value::as_object)
}

/// Returns the address of a value, which identifies it.
fn address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

/// Returns a readable name of a keyword.
pub(super) fn describe_keyword(keyword: &str) -> String {
    match keyword {
        "default" | "description" | "title" => format!("the {keyword}"),
        other => quoted(other),
    }
}

/// Returns the content of a string, and other values as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
