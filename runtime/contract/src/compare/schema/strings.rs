//! Comparison of strings.

use treenail_schema::JsonObject;

use crate::compare::schema::normalize::{Node, Normalized};
use crate::compare::schema::numbers::{BoundKind, both_allow};
use crate::compare::schema::path::Position;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn compare_strings(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        // Numbers may have a format too.
        self.compare_opaque(old, new, "format", at);
        if !both_allow(old, new, Types::STRING) {
            return;
        }
        let schemas = (old.members(), new.members());
        self.compare_count(schemas, "minLength", BoundKind::Lower, at);
        self.compare_count(schemas, "maxLength", BoundKind::Upper, at);
        for name in ["pattern", "contentEncoding", "contentMediaType"] {
            self.compare_opaque(old, new, name, at);
        }
        self.compare_subschema(schemas, "contentSchema", at, Direction::Unknown);
    }

    /// Compares a keyword whose value cannot be interpreted. Without the keyword, more values are allowed.
    fn compare_opaque(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        name: &str,
        at: Position<'_>,
    ) {
        let (old, new) = (old.members().get(name), new.members().get(name));
        let effect = match (old, new) {
            (old, new) if old == new => return,
            (None, _) => Effect::Narrowed,
            (_, None) => Effect::Widened,
            _ => Effect::Changed,
        };
        self.report_keyword(effect, at, name, (old, new));
    }

    /// Compares a subschema in a keyword. Without the keyword, more values are allowed, unless the schema has no effect.
    /// `inside` is the direction of values within it.
    pub(super) fn compare_subschema(
        &mut self,
        schemas: (&'a JsonObject, &'a JsonObject),
        name: &str,
        at: Position<'_>,
        inside: Direction,
    ) {
        let values = (schemas.0.get(name), schemas.1.get(name));
        match values {
            (Some(old), Some(new)) => {
                let at = at.descend(at.path.key(name)).in_direction(inside);
                self.compare(Node::of(old), Node::of(new), at);
            }
            (None, Some(new)) if !has_no_effect(name, Node::of(new)) => {
                self.report_keyword(Effect::Narrowed, at, name, values);
            }
            (Some(old), None) if !has_no_effect(name, Node::of(old)) => {
                self.report_keyword(Effect::Widened, at, name, values);
            }
            _ => {}
        }
    }
}

/// Returns `true` if a keyword with this schema obviously allows every value.
fn has_no_effect(keyword: &str, schema: Node<'_>) -> bool {
    match keyword {
        "not" => matches!(schema, Node::Bool(false)),
        // Even the schema that allows everything requires an item.
        "contains" => false,
        _ => schema.allows_all(),
    }
}
