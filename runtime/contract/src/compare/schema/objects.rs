//! Comparison of objects.

use std::collections::BTreeSet;

use crate::Severity;
use crate::compare::schema::added_members::AddedMember;
use crate::compare::schema::normalize::{Node, Normalized};
use crate::compare::schema::numbers::{BoundKind, both_allow};
use crate::compare::schema::object_members::{Member, Members};
use crate::compare::schema::path::Position;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

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
        self.take_steps((old.count() + new.count()) / 8);
        let names: BTreeSet<&'a str> = old.names().chain(new.names()).collect();
        let properties = at.path.key("properties");
        let mut added = Vec::new();
        for name in names {
            if self.should_stop() {
                return;
            }
            let members = (self.member(&old, name), self.member(&new, name));
            added.extend(AddedMember::of(name, &members.0, &members.1));
            let at = at.descend(properties.key(name));
            self.compare_property(&members.0, &members.1, at);
        }
        self.report_added_members(&added, properties, at);
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

    fn compare_property(&mut self, old: &Member<'a>, new: &Member<'a>, at: Position<'_>) {
        match (old.is_known(), new.is_known()) {
            (true, true) => {
                match (old.is_required, new.is_required) {
                    (false, true) => self.report_effect(Effect::Narrowed, at, "now required"),
                    (true, false) => self.report_effect(Effect::Widened, at, "now optional"),
                    _ => {}
                }
                self.compare_member_schemas(old, new, at);
            }
            (true, false) => {
                let message = match (at.direction, new.is_forbidden) {
                    (Direction::Input, true) => "removed, and now rejected",
                    _ => "removed",
                };
                // Breaking even if undeclared members are allowed, because the member no longer has an effect.
                self.report_member(Severity::Breaking, at, message);
            }
            (false, true) => {
                match (at.direction, new.is_required) {
                    (Direction::Input, true) => {
                        self.report_member(Severity::Breaking, at, "added, and required");
                    }
                    (Direction::Unknown, _) => {
                        let message = "added, at a position where the effect cannot be judged";
                        self.report_member(Severity::Breaking, at, message);
                    }
                    _ => self.report_member(Severity::Additive, at, "added"),
                }
                self.compare_added(old, new, at);
            }
            (false, false) => self.compare_unknown(old, new, at),
        }
    }

    /// Compares the schemas of a member that is declared at least once. Otherwise, they are compared with their keywords.
    fn compare_member_schemas(&mut self, old: &Member<'a>, new: &Member<'a>, at: Position<'_>) {
        match (old.declared, new.declared) {
            (Some(old), Some(new)) => self.compare(old, new, at),
            (Some(old), None) => {
                let schemas = new.undeclared.iter();
                self.compare_possible(schemas.map(|(new, certain)| (old, *new, *certain)), at);
            }
            (None, Some(new)) => {
                let schemas = old.undeclared.iter();
                self.compare_possible(schemas.map(|(old, certain)| (*old, new, *certain)), at);
            }
            (None, None) => {}
        }
    }

    /// Compares an added member with the schemas that already restricted it, as in a map.
    fn compare_added(&mut self, old: &Member<'a>, new: &Member<'a>, at: Position<'_>) {
        let Some(new) = new.declared else {
            return;
        };
        let schemas = old.undeclared.iter();
        let schemas =
            schemas.filter(|(old, _)| matches!(old, Node::Object(_)) && !old.allows_all());
        self.compare_possible(schemas.map(|(old, certain)| (*old, new, *certain)), at);
    }

    /// Compares pairs of schemas, each with `true` if both certainly apply. Otherwise, a difference cannot be judged.
    fn compare_possible(
        &mut self,
        pairs: impl Iterator<Item = (Node<'a>, Node<'a>, bool)>,
        at: Position<'_>,
    ) {
        for (old, new, is_certain) in pairs {
            if is_certain {
                self.compare(old, new, at);
            } else if !self.are_equivalent(old, new, at) {
                return self.report_changed(at);
            }
        }
    }

    /// Compares whether a member is forbidden that neither schema declares as allowed.
    fn compare_unknown(&mut self, old: &Member<'a>, new: &Member<'a>, at: Position<'_>) {
        match (old.is_impossible(), new.is_impossible()) {
            (false, true) => {
                return self.report_effect(Effect::Narrowed, at, "now required, but rejected");
            }
            (true, false) => return self.report_effect(Effect::Widened, at, "no longer required"),
            _ => {}
        }
        match (old.is_forbidden, new.is_forbidden) {
            (false, true) => self.report_effect(Effect::Narrowed, at, "now rejected"),
            (true, false) if at.direction == Direction::Unknown => self.report_changed(at),
            (true, false) => self.report_member(Severity::Additive, at, "no longer rejected"),
            _ => {}
        }
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
