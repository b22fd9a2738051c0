//! Members that a schema no longer declares, neither itself nor in a subschema.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::quoted;

use crate::Severity;
use crate::compare::schema::Direction;
use crate::compare::schema::normalize::{Node, resolve};
use crate::compare::schema::path::Position;
use crate::compare::schema::text::members;
use crate::compare::schema::walk::Walk;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Reports arguments that only the removed subschemas declared. Returns `false` if there are none. Such arguments may
    /// still be allowed, but no longer have an effect.
    pub(super) fn report_lost_members(
        &mut self,
        removed: &[Node<'a>],
        new: &'a JsonObject,
        at: Position<'_>,
    ) -> bool {
        if at.direction != Direction::Input {
            return false;
        }
        let before = self.declared_members(self.old, removed, HashSet::new());
        let after = self.declared_members(self.new, &[Node::Object(new)], HashSet::new());
        let Some(first) = before.keys().find(|name| !after.contains_key(**name)) else {
            return false;
        };
        let name = quoted(first);
        let message = format!("removed declared members such as {name}");
        self.report_member(Severity::Breaking, at, &message);
        true
    }

    /// Returns the members that some schemas and their parts declare, each with its schemas; none if it is only required.
    /// Parts with an address in `seen` are left out.
    pub(super) fn declared_members(
        &mut self,
        root: &'a JsonObject,
        nodes: &[Node<'a>],
        mut seen: HashSet<usize>,
    ) -> BTreeMap<&'a str, Vec<Node<'a>>> {
        let mut declared: BTreeMap<&str, Vec<Node<'_>>> = BTreeMap::new();
        let mut open = nodes.to_vec();
        while let Some(node) = open.pop() {
            let Node::Object(schema) = node else {
                continue;
            };
            if self.should_stop() || !seen.insert(node.address()) {
                continue;
            }
            let properties = members(schema.get("properties"));
            for (name, schema) in properties.into_iter().flatten() {
                declared.entry(name).or_default().push(Node::of(schema));
            }
            let required = list(schema, "required");
            for name in required.iter().filter_map(Value::as_str) {
                declared.entry(name).or_default();
            }
            let before = open.len();
            add_subschemas(&mut open, root, schema);
            self.take_steps(
                1 + (properties.map_or(0, JsonObject::len) + required.len() + open.len() - before)
                    / 8,
            );
        }
        declared
    }
}

/// Adds the schemas that apply to the same value as `schema`.
fn add_subschemas<'a>(open: &mut Vec<Node<'a>>, root: &'a JsonObject, schema: &'a JsonObject) {
    let lists = ["allOf", "anyOf", "oneOf"].map(|name| list(schema, name));
    open.extend(lists.into_iter().flatten().map(Node::of));
    let single = ["if", "then", "else"].map(|name| schema.get(name));
    open.extend(single.into_iter().flatten().map(Node::of));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
    open.extend(
        dependent
            .into_iter()
            .flat_map(JsonObject::values)
            .map(Node::of),
    );
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|it| resolve(root, it));
    open.extend(target.map(|(_, node)| node));
}

/// Returns the items of a list; none if it is absent.
fn list<'a>(schema: &'a JsonObject, name: &str) -> &'a [Value] {
    let items = schema.get(name).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}
