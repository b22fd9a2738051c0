//! The members of objects.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::schema::numbers::{Leaves, both_are};
use crate::compare::schema::side::{Node, Settled, settle};
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::words::members;
use crate::compare::schema::{Effect, Role};

/// What a schema says of the members of an object.
struct Members<'a> {
    properties: Option<&'a JsonObject>,
    required: BTreeSet<&'a str>,
    root: &'a JsonObject,
    /// What holds for those that have no schema of their own.
    others: Node<'a>,
}

impl<'a> Members<'a> {
    fn of(root: &'a JsonObject, schema: &'a JsonObject) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        Self {
            properties: members(schema.get("properties")),
            required: required.collect(),
            root,
            others: schema
                .get("additionalProperties")
                .map_or(Node::Bool(true), Node::of),
        }
    }

    fn declared(&self, name: &str) -> Option<Node<'a>> {
        let properties = self.properties?;
        properties.get(name).map(Node::of)
    }

    /// The schema of a member that may be there. One that is required is as good as declared, though it may be anything.
    fn property(&self, name: &str) -> Option<Node<'a>> {
        match self.declared(name) {
            Some(_) if self.refuses(name) => None,
            None => self.required.contains(name).then_some(Node::Bool(true)),
            declared => declared,
        }
    }

    /// Whether a member may not be there: no value is allowed for it, or it is not declared where others are refused.
    fn refuses(&self, name: &str) -> bool {
        match self.declared(name) {
            Some(schema) => settle(self.root, schema).is_never(),
            None => self.is_closed(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        let declared = self.properties.into_iter().flat_map(|all| all.keys());
        declared
            .map(|name| &**name)
            .chain(self.required.iter().copied())
    }

    /// Whether other members are bound by a schema, as those of a map are.
    fn is_map(&self) -> bool {
        matches!(self.others, Node::Object(_)) && !self.others.allows_all()
    }

    fn is_closed(&self) -> bool {
        matches!(self.others, Node::Bool(false))
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn objects(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        if !both_are(old, new, Types::OBJECT) {
            return;
        }
        let schemas = (old.members(), new.members());
        let (old, new) = (
            Members::of(self.old, schemas.0),
            Members::of(self.new, schemas.1),
        );
        let names: BTreeSet<&str> = old.names().chain(new.names()).collect();
        let properties = at.path.key("properties");
        for name in names {
            self.property(name, &old, &new, at.to(properties.key(name)));
        }
        self.others(&old, &new, at);
        self.count(schemas, "minProperties", Leaves::Above, at);
        self.count(schemas, "maxProperties", Leaves::Below, at);
        self.patterns(
            schemas,
            old.is_closed() || old.is_map() || new.is_closed() || new.is_map(),
            at,
        );
        self.dependents(schemas, at);
    }

    fn property(&mut self, name: &str, old: &Members<'a>, new: &Members<'a>, at: At<'_>) {
        let is_required = (old.required.contains(name), new.required.contains(name));
        match (old.property(name), new.property(name)) {
            (Some(one), Some(other)) => {
                match is_required {
                    (false, true) => self.effect(Effect::Narrowed, at, "it has to be there now"),
                    (true, false) => self.effect(Effect::Widened, at, "it may be missing now"),
                    _ => {}
                }
                self.compare(one, other, at);
            }
            (Some(_), None) => {
                let message = match (at.role, new.refuses(name)) {
                    (Role::Input, true) => "it is gone, and refused",
                    _ => "it is gone",
                };
                // Where other members are allowed, it still is. But it does not do any more what it did.
                self.named(Severity::Breaking, at, message);
            }
            (None, Some(other)) => {
                match (at.role, is_required.1) {
                    (Role::Input, true) => {
                        self.named(Severity::Breaking, at, "it is new, and has to be there");
                    }
                    (Role::Unclear, _) => {
                        let message = "it is new, in a place where it cannot be judged";
                        self.named(Severity::Breaking, at, message);
                    }
                    _ => self.named(Severity::Additive, at, "it is new"),
                }
                // In a map, it was allowed before.
                if old.is_map() && old.declared(name).is_none() {
                    self.compare(old.others, other, at);
                }
            }
            (None, None) => self.refused((old.refuses(name), new.refuses(name)), at),
        }
    }

    /// Compares whether a member is refused that is not declared as anything else.
    fn refused(&mut self, is_refused: (bool, bool), at: At<'_>) {
        match is_refused {
            (false, true) => self.effect(Effect::Narrowed, at, "it is refused now"),
            (true, false) if at.role == Role::Unclear => self.changed(at),
            (true, false) => self.named(Severity::Additive, at, "it is not refused any more"),
            _ => {}
        }
    }

    /// A member that has come or gone. What that means does not follow from the values that are allowed: members that are
    /// not declared may be there, and nobody looks at them.
    pub(super) fn named(&mut self, severity: Severity, at: At<'_>, message: &str) {
        if self.is_probing() {
            self.changed(at);
            return;
        }
        let path = at.path.written(self.entry.limits().text_bytes);
        self.entry.change(severity, &path, message);
    }

    /// Compares what holds for members that are not declared.
    fn others(&mut self, old: &Members<'a>, new: &Members<'a>, at: At<'_>) {
        let at = at.to(at.path.key("additionalProperties"));
        match (old.is_closed(), new.is_closed()) {
            (true, true) => {}
            (false, true) => {
                self.effect(
                    Effect::Narrowed,
                    at,
                    "members that are not declared are refused now",
                );
            }
            // Who reads the members that it knows of does not see others.
            (true, false) => match at.role {
                Role::Unclear => self.changed(at),
                _ => self.named(
                    Severity::Additive,
                    at,
                    "members that are not declared are allowed now",
                ),
            },
            (false, false) => self.compare(old.others, new.others, at),
        }
    }
}
