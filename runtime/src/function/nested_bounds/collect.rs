//! Collection of the bounds from a schema.
//!
//! Alternatives are skipped, because the schema does not state which of them applies. The exception is a value beside null.

use serde_json::Value;
use treenail_schema::internal::json_schema::{
    Fragment, Schema, local_fragment, other_members, tokens,
};

use super::{Bound, Node};

/// Returns the nodes of a schema, the root first.
pub(super) fn nodes(schema: &Value, definitions: &Schema) -> Vec<Node> {
    let mut collector = Collector {
        definitions,
        nodes: vec![Node::default()],
        visited: Vec::new(),
    };
    let root = collector.node(schema);
    collector.nodes[0].same = root;
    collector.nodes
}

struct Collector<'a> {
    definitions: &'a Schema,
    nodes: Vec<Node>,
    /// Definitions that have a node.
    visited: Vec<(&'a str, usize)>,
}

impl Collector<'_> {
    /// Adds the node of a schema, unless it has nothing to check.
    fn node(&mut self, schema: &Value) -> Option<usize> {
        let schema = schema.as_object()?;
        let mut node = Node {
            bounds: Bound::all(schema),
            is_object: is_object(schema),
            others: other_members(schema).and_then(|others| self.node(others)),
            items: schema.get("items").and_then(|items| self.node(items)),
            same: self.same(schema),
            ..Node::default()
        };
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                let member = self.node(property);
                if member.is_some() || node.others.is_some() {
                    node.members.push((name.clone(), member));
                }
            }
        }
        if let Some(Value::Array(prefix)) = schema.get("prefixItems") {
            for item in prefix {
                node.prefix.push(self.node(item));
            }
        }
        let children = node.others.or(node.items);
        let is_plain = node.bounds.is_empty()
            && node.members.is_empty()
            && children.is_none()
            && node.prefix.iter().all(Option::is_none);
        if is_plain {
            return node.same;
        }
        self.nodes.push(node);
        Some(self.nodes.len() - 1)
    }

    /// Returns the node of another schema for the same value: the target of a reference, or the alternative to null.
    fn same(&mut self, schema: &Schema) -> Option<usize> {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.definition(reference);
        }
        let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
        match schema.get("anyOf").and_then(Value::as_array)?.as_slice() {
            [other, null] | [null, other] if is_null(null) => self.node(other),
            _ => None,
        }
    }

    fn definition(&mut self, reference: &str) -> Option<usize> {
        let Fragment::Pointer(pointer) = local_fragment(reference)? else {
            return None;
        };
        let (name, definition) = self.definitions.get_key_value(&*tokens(&pointer).nth(1)?)?;
        if let Some((_, node)) = self.visited.iter().find(|(visited, _)| visited == name) {
            return Some(*node);
        }
        // The definition may refer to itself, so its node exists before it is read.
        let node = self.nodes.len();
        self.nodes.push(Node::default());
        self.visited.push((name, node));
        self.nodes[node].same = self.node(definition);
        Some(node)
    }
}

/// Returns true if a schema allows objects and no arrays.
fn is_object(schema: &Schema) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => {
            let has = |name: &str| kinds.iter().any(|kind| kind == name);
            has("object") && !has("array")
        }
        kind => kind.is_some_and(|kind| kind == "object"),
    }
}
