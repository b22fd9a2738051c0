//! The items of lists.

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::numbers::{Leaves, both_are};
use crate::compare::schema::side::{Node, Settled};
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::{Effect, Role};

/// What a schema says of the items of a list.
struct Items<'a> {
    /// What holds for the first ones, each by its place, and where that stands.
    first: &'a [Value],
    first_keyword: &'static str,
    /// What holds for the others.
    others: Node<'a>,
    others_keyword: &'static str,
}

impl<'a> Items<'a> {
    fn of(schema: &'a JsonObject) -> Self {
        let node = |name: &str| schema.get(name).map_or(Node::Bool(true), Node::of);
        match (schema.get("prefixItems"), schema.get("items")) {
            // As the drafts before 2020-12 have it.
            (None, Some(Value::Array(first))) => Self {
                first,
                first_keyword: "items",
                others: node("additionalItems"),
                others_keyword: "additionalItems",
            },
            (first, _) => Self {
                first: first.and_then(Value::as_array).map_or(&[], Vec::as_slice),
                first_keyword: "prefixItems",
                others: node("items"),
                others_keyword: "items",
            },
        }
    }

    fn at(&self, place: usize) -> Node<'a> {
        self.first.get(place).map_or(self.others, Node::of)
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn lists(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        if !both_are(old, new, Types::ARRAY) {
            return;
        }
        let schemas = (old.members(), new.members());
        let (old, new) = (Items::of(schemas.0), Items::of(schemas.1));
        let first = at.path.key(new.first_keyword);
        for place in 0..old.first.len().max(new.first.len()) {
            self.compare(old.at(place), new.at(place), at.to(first.index(place)));
        }
        let others = at.path.key(new.others_keyword);
        self.compare(old.others, new.others, at.to(others));
        self.count(schemas, "minItems", Leaves::Above, at);
        self.count(schemas, "maxItems", Leaves::Below, at);
        self.unique(schemas, at);
        self.contained(schemas, at);
        self.part(schemas, "unevaluatedItems", at, Role::Unclear);
    }

    fn unique(&mut self, schemas: (&'a JsonObject, &'a JsonObject), at: At<'_>) {
        let name = "uniqueItems";
        let values = (schemas.0.get(name), schemas.1.get(name));
        let is = |value: Option<&Value>| value == Some(&Value::Bool(true));
        match (is(values.0), is(values.1)) {
            (false, true) => self.keyword(Effect::Narrowed, at, name, values),
            (true, false) => self.keyword(Effect::Widened, at, name, values),
            _ => {}
        }
    }

    fn contained(&mut self, schemas: (&'a JsonObject, &'a JsonObject), at: At<'_>) {
        // How many items there are of a kind, and which kind that is: one may make up for the other.
        let counts = ["minContains", "maxContains"];
        let is_plain =
            |name: &&str| !schemas.0.contains_key(*name) && !schemas.1.contains_key(*name);
        if counts.iter().all(is_plain) {
            self.part(schemas, "contains", at, at.role);
            return;
        }
        self.part(schemas, "contains", at.with(Role::Unclear), Role::Unclear);
        for name in counts {
            let values = (schemas.0.get(name), schemas.1.get(name));
            if values.0 != values.1 {
                self.keyword(Effect::Changed, at, name, values);
            }
        }
    }
}
