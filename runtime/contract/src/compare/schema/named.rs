//! The members that a schema names, itself or by the schemas that apply in addition.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::quoted;

use crate::Severity;
use crate::compare::schema::Role;
use crate::compare::schema::side::{Node, resolve};
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::words::members;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Tells of arguments that only the schemas named that are gone, and that the new one does not; whether there are some.
    /// They may still be sent, but do not do any more what they did.
    pub(super) fn lose_members(
        &mut self,
        gone: &[Node<'a>],
        new: &'a JsonObject,
        at: At<'_>,
    ) -> bool {
        if at.role != Role::Input {
            return false;
        }
        let before = self.names(self.old, gone);
        let after = self.names(self.new, &[Node::Object(new)]);
        let Some(first) = before.difference(&after).next() else {
            return false;
        };
        let name = quoted(first);
        let message = format!("members that it named are gone, as {name}");
        self.named(Severity::Breaking, at, &message);
        true
    }

    /// The members that some schemas of one place name.
    fn names(&mut self, root: &'a JsonObject, nodes: &[Node<'a>]) -> BTreeSet<&'a str> {
        let mut names = BTreeSet::new();
        let mut open = nodes.to_vec();
        let mut seen = HashSet::new();
        while let Some(node) = open.pop() {
            let Node::Object(schema) = node else {
                continue;
            };
            if self.is_over() || !seen.insert(node.address()) {
                continue;
            }
            let properties = members(schema.get("properties"));
            names.extend(
                properties
                    .into_iter()
                    .flat_map(|all| all.keys())
                    .map(String::as_str),
            );
            let lists = ["required", "allOf", "anyOf", "oneOf"];
            let [required, schemas @ ..] = lists.map(|name| {
                schema
                    .get(name)
                    .and_then(Value::as_array)
                    .map_or(&[][..], Vec::as_slice)
            });
            names.extend(required.iter().filter_map(Value::as_str));
            let before = open.len();
            open.extend(schemas.into_iter().flatten().map(Node::of));
            open.extend(
                ["if", "then", "else"]
                    .into_iter()
                    .filter_map(|name| schema.get(name))
                    .map(Node::of),
            );
            let reference = schema.get("$ref").and_then(Value::as_str);
            open.extend(
                reference
                    .and_then(|it| resolve(root, it))
                    .map(|(_, node)| node),
            );
            self.step(
                1 + (properties.map_or(0, JsonObject::len) + required.len() + open.len() - before)
                    / 8,
            );
        }
        names
    }
}
