//! What schemas tell people and models, and what nothing refers to.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::quoted;

use crate::Severity;
use crate::compare::schema::Role;
use crate::compare::schema::side::{Node, Settled, resolve};
use crate::compare::schema::walk::{At, Walk};
use crate::keyword::{Does, does};

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares words, and defaults. A schema and those that it refers to all have words for one place; those that
    /// are different are told once, however often they are referred to.
    pub(super) fn words(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        let members = old.told.iter().chain(&new.told);
        let names = members.flat_map(|members| members.keys());
        let names: BTreeSet<&String> = names.filter(|name| does(name) == Does::Tell).collect();
        for name in names {
            let values = |settled: &Settled<'a>| -> Vec<&'a Value> {
                let told = settled.told.iter();
                told.filter_map(|members| members.get(name)).collect()
            };
            let (old, new) = (values(old), values(new));
            let (old, new) = different(&old, &new);
            self.step((old.len() + new.len()) / 8);
            for place in 0..old.len().max(new.len()) {
                self.word(name, old.get(place).copied(), new.get(place).copied(), at);
            }
        }
    }

    fn word(&mut self, name: &str, old: Option<&Value>, new: Option<&Value>, at: At<'_>) {
        let address = |value: Option<&Value>| value.map_or(0, |it| std::ptr::from_ref(it) as usize);
        if old == new || !self.told.insert((address(old), address(new))) {
            return;
        }
        self.shown.extend(new.map(std::ptr::from_ref));
        // A call that leaves the argument out does something else now.
        let severity = match (name, at.role) {
            ("default", Role::Input) => Severity::Additive,
            _ => Severity::Wording,
        };
        let path = at.path.key(name);
        let path = path.written(self.entry.limits().text_bytes);
        let what = what(name);
        let (old, new) = (old.map(text), new.map(text));
        let texts = (old.as_deref(), new.as_deref());
        self.entry.differ(severity, &path, &what, texts);
    }

    /// Compares all definitions, for there is a reference that is not understood: it may be to any of them.
    pub(super) fn definitions(&mut self, at: At<'_>) {
        if !self.is_probing() && std::mem::replace(&mut self.knows_definitions, true) {
            return;
        }
        let root = self.root();
        for keyword in DEFINITIONS {
            let path = root.key(keyword);
            let old = members(self.old.get(keyword));
            let new = members(self.new.get(keyword));
            let names = [old, new].into_iter().flatten().flat_map(|all| all.keys());
            for name in names.collect::<BTreeSet<_>>() {
                let at = at.to(path.key(name)).with(Role::Unclear);
                let schema = |all: Option<&'a JsonObject>| all.and_then(|all| all.get(name));
                match (schema(old), schema(new)) {
                    (Some(old), Some(new)) => self.compare(Node::of(old), Node::of(new), at),
                    _ => self.changed(at),
                }
            }
        }
    }

    /// Tells of definitions that are different although nothing refers to them: models may read them.
    pub(super) fn unused_definitions(&mut self) {
        if self.knows_definitions {
            return;
        }
        let root = self.root();
        let used = used_definitions(self.new);
        for keyword in DEFINITIONS {
            let old = members(self.old.get(keyword));
            let keyword_path = root.key(keyword);
            for (name, schema) in members(self.new.get(keyword)).into_iter().flatten() {
                let before = old.and_then(|old| old.get(name));
                if before == Some(schema) || used.contains(&(keyword, name)) {
                    continue;
                }
                self.shown.insert(std::ptr::from_ref(schema));
                let path = keyword_path.key(name);
                let path = path.written(self.entry.limits().text_bytes);
                let (before, schema) = (before.map(Value::to_string), schema.to_string());
                let what = "a definition that nothing refers to";
                self.entry
                    .words(&path, what, before.as_deref(), Some(&schema));
            }
        }
    }
}

/// The definitions of a schema that are referred to, by their keywords and names.
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
                let definition = reference.and_then(|reference| definition(root, reference));
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

/// The definition that a reference refers to, or to something in it.
fn definition<'a>(root: &'a JsonObject, reference: &str) -> Option<(&'a str, &'a str, &'a Value)> {
    let (pointer, _) = resolve(root, reference)?;
    let mut steps = pointer.strip_prefix('/')?.split('/');
    let keyword = steps.next()?;
    let name = steps.next()?.replace("~1", "/").replace("~0", "~");
    let keyword = DEFINITIONS.into_iter().find(|other| *other == keyword)?;
    let (name, schema) = members(root.get(keyword))?.get_key_value(&name)?;
    Some((keyword, name, schema))
}

const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

pub(super) fn members(value: Option<&Value>) -> Option<&JsonObject> {
    value.and_then(Value::as_object)
}

/// What is left of two lists without what is the same at their beginnings and at their ends.
fn different<'s, T: PartialEq>(old: &'s [T], new: &'s [T]) -> (&'s [T], &'s [T]) {
    let same = |(old, new): &(&T, &T)| old == new;
    let before = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[before..], &new[before..]);
    let pairs = old.iter().rev().zip(new.iter().rev());
    let after = pairs.take_while(same).count();
    (&old[..old.len() - after], &new[..new.len() - after])
}

/// How people call what a keyword tells.
pub(super) fn what(keyword: &str) -> String {
    match keyword {
        "default" | "description" | "title" => format!("the {keyword}"),
        other => quoted(other),
    }
}

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
