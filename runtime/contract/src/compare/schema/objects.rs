//! Comparison of objects.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::schema::normalize::{Node, Normalized, normalize};
use crate::compare::schema::numbers::{BoundKind, both_allow};
use crate::compare::schema::path::Position;
use crate::compare::schema::text::members;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

/// Keywords for the members of an object.
struct Members<'a> {
    properties: Option<&'a JsonObject>,
    required: BTreeSet<&'a str>,
    root: &'a JsonObject,
    /// Schema of undeclared members.
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

    /// Returns the schema of a member that is allowed and declared. A required member counts as declared, with any value.
    fn property(&self, name: &str) -> Option<Node<'a>> {
        match self.declared(name) {
            Some(_) if self.forbids(name) => None,
            None => self.required.contains(name).then_some(Node::Bool(true)),
            declared => declared,
        }
    }

    /// Returns `true` if a member is forbidden: it allows no value, or it is undeclared and such members are forbidden.
    fn forbids(&self, name: &str) -> bool {
        match self.declared(name) {
            Some(schema) => normalize(self.root, schema).is_never(),
            None => self.is_closed(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        let declared = self.properties.into_iter().flat_map(|all| all.keys());
        declared
            .map(|name| &**name)
            .chain(self.required.iter().copied())
    }

    /// Returns `true` if undeclared members have a schema, as in a map.
    fn is_map(&self) -> bool {
        matches!(self.others, Node::Object(_)) && !self.others.allows_all()
    }

    fn is_closed(&self) -> bool {
        matches!(self.others, Node::Bool(false))
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn compare_objects(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        if !both_allow(old, new, Types::OBJECT) {
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
            self.compare_property(name, &old, &new, at.descend(properties.key(name)));
        }
        self.compare_other_members(&old, &new, at);
        self.compare_count(schemas, "minProperties", BoundKind::Lower, at);
        self.compare_count(schemas, "maxProperties", BoundKind::Upper, at);
        self.compare_patterns(
            schemas,
            old.is_closed() || old.is_map() || new.is_closed() || new.is_map(),
            at,
        );
        self.compare_dependents(schemas, at);
    }

    fn compare_property(
        &mut self,
        name: &str,
        old: &Members<'a>,
        new: &Members<'a>,
        at: Position<'_>,
    ) {
        let is_required = (old.required.contains(name), new.required.contains(name));
        match (old.property(name), new.property(name)) {
            (Some(one), Some(other)) => {
                match is_required {
                    (false, true) => self.report_effect(Effect::Narrowed, at, "now required"),
                    (true, false) => self.report_effect(Effect::Widened, at, "now optional"),
                    _ => {}
                }
                self.compare(one, other, at);
            }
            (Some(_), None) => {
                let message = match (at.direction, new.forbids(name)) {
                    (Direction::Input, true) => "removed, and now rejected",
                    _ => "removed",
                };
                // Breaking even if undeclared members are allowed, because the member no longer has an effect.
                self.report_member(Severity::Breaking, at, message);
            }
            (None, Some(other)) => {
                match (at.direction, is_required.1) {
                    (Direction::Input, true) => {
                        self.report_member(Severity::Breaking, at, "added, and required");
                    }
                    (Direction::Unknown, _) => {
                        let message = "added, at a position where the effect cannot be judged";
                        self.report_member(Severity::Breaking, at, message);
                    }
                    _ => self.report_member(Severity::Additive, at, "added"),
                }
                // The map already allowed the member, with another schema.
                if old.is_map() && old.declared(name).is_none() {
                    self.compare(old.others, other, at);
                }
            }
            (None, None) => self.compare_forbidden((old.forbids(name), new.forbids(name)), at),
        }
    }

    /// Compares whether a member is forbidden that neither schema declares as allowed.
    fn compare_forbidden(&mut self, is_forbidden: (bool, bool), at: Position<'_>) {
        match is_forbidden {
            (false, true) => self.report_effect(Effect::Narrowed, at, "now rejected"),
            (true, false) if at.direction == Direction::Unknown => self.report_changed(at),
            (true, false) => self.report_member(Severity::Additive, at, "no longer rejected"),
            _ => {}
        }
    }

    /// Reports an added or removed member. Its severity does not follow from the allowed values, because undeclared members
    /// may be allowed but ignored.
    pub(super) fn report_member(&mut self, severity: Severity, at: Position<'_>, message: &str) {
        if self.is_probing() {
            self.report_changed(at);
            return;
        }
        let path = at.path.render(self.entry.limits().text_bytes);
        self.entry.report(severity, &path, message);
    }

    /// Compares the schemas of undeclared members.
    fn compare_other_members(&mut self, old: &Members<'a>, new: &Members<'a>, at: Position<'_>) {
        let at = at.descend(at.path.key("additionalProperties"));
        match (old.is_closed(), new.is_closed()) {
            (true, true) => {}
            (false, true) => {
                self.report_effect(Effect::Narrowed, at, "undeclared members are now rejected");
            }
            // A program that reads known members ignores others.
            (true, false) => match at.direction {
                Direction::Unknown => self.report_changed(at),
                _ => {
                    self.report_member(
                        Severity::Additive,
                        at,
                        "undeclared members are now allowed",
                    );
                }
            },
            (false, false) => self.compare(old.others, new.others, at),
        }
    }
}
