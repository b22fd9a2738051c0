//! Comparison of arrays.

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::normalize::{Node, Normalized};
use crate::compare::schema::numbers::{BoundKind, both_allow};
use crate::compare::schema::path::Position;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

/// Keywords for the items of an array.
struct Items<'a> {
    /// Schemas of the first items, by index, and their keyword.
    prefix: &'a [Value],
    prefix_keyword: &'static str,
    /// Schema of the remaining items, and its keyword.
    rest: Node<'a>,
    rest_keyword: &'static str,
}

impl<'a> Items<'a> {
    fn of(schema: &'a JsonObject) -> Self {
        let node = |name: &str| schema.get(name).map_or(Node::Bool(true), Node::of);
        match (schema.get("prefixItems"), schema.get("items")) {
            // Form of the drafts before 2020-12.
            (None, Some(Value::Array(prefix))) => Self {
                prefix,
                prefix_keyword: "items",
                rest: node("additionalItems"),
                rest_keyword: "additionalItems",
            },
            (prefix, _) => Self {
                prefix: prefix.and_then(Value::as_array).map_or(&[], Vec::as_slice),
                prefix_keyword: "prefixItems",
                rest: node("items"),
                rest_keyword: "items",
            },
        }
    }

    fn item(&self, index: usize) -> Node<'a> {
        self.prefix.get(index).map_or(self.rest, Node::of)
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn compare_arrays(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        if !both_allow(old, new, Types::ARRAY) {
            return;
        }
        let schemas = (old.members(), new.members());
        let (old, new) = (Items::of(schemas.0), Items::of(schemas.1));
        let prefix = at.path.key(new.prefix_keyword);
        for index in 0..old.prefix.len().max(new.prefix.len()) {
            let path = prefix.index(index);
            self.compare(old.item(index), new.item(index), at.descend(path));
        }
        let rest = at.path.key(new.rest_keyword);
        self.compare(old.rest, new.rest, at.descend(rest));
        self.compare_count(schemas, "minItems", BoundKind::Lower, at);
        self.compare_count(schemas, "maxItems", BoundKind::Upper, at);
        self.compare_uniqueness(schemas, at);
        self.compare_contains(schemas, at);
        self.compare_subschema(schemas, "unevaluatedItems", at, Direction::Unknown);
    }

    fn compare_uniqueness(&mut self, schemas: (&'a JsonObject, &'a JsonObject), at: Position<'_>) {
        let name = "uniqueItems";
        let values = (schemas.0.get(name), schemas.1.get(name));
        let is = |value: Option<&Value>| value == Some(&Value::Bool(true));
        match (is(values.0), is(values.1)) {
            (false, true) => self.report_keyword(Effect::Narrowed, at, name, values),
            (true, false) => self.report_keyword(Effect::Widened, at, name, values),
            _ => {}
        }
    }

    fn compare_contains(&mut self, schemas: (&'a JsonObject, &'a JsonObject), at: Position<'_>) {
        // The effects of these counts and of the schema may cancel each other out.
        let counts = ["minContains", "maxContains"];
        let is_plain =
            |name: &&str| !schemas.0.contains_key(*name) && !schemas.1.contains_key(*name);
        if counts.iter().all(is_plain) {
            self.compare_subschema(schemas, "contains", at, at.direction);
            return;
        }
        self.compare_subschema(
            schemas,
            "contains",
            at.in_direction(Direction::Unknown),
            Direction::Unknown,
        );
        for name in counts {
            let values = (schemas.0.get(name), schemas.1.get(name));
            if values.0 != values.1 {
                self.report_keyword(Effect::Changed, at, name, values);
            }
        }
    }
}
