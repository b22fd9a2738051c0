//! What texts have to look like.

use treenail_schema::JsonObject;

use crate::compare::schema::numbers::{Leaves, both_are};
use crate::compare::schema::side::{Node, Settled};
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::{Effect, Role};

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn texts(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        // Numbers have formats too.
        self.form(old, new, "format", at);
        if !both_are(old, new, Types::STRING) {
            return;
        }
        let schemas = (old.members(), new.members());
        self.count(schemas, "minLength", Leaves::Above, at);
        self.count(schemas, "maxLength", Leaves::Below, at);
        for name in ["pattern", "contentEncoding", "contentMediaType"] {
            self.form(old, new, name, at);
        }
        self.part(schemas, "contentSchema", at, Role::Unclear);
    }

    /// Compares a keyword of which only one thing is known: without it, more is allowed.
    fn form(&mut self, old: &Settled<'a>, new: &Settled<'a>, name: &str, at: At<'_>) {
        let (old, new) = (old.members().get(name), new.members().get(name));
        let effect = match (old, new) {
            (old, new) if old == new => return,
            (None, _) => Effect::Narrowed,
            (_, None) => Effect::Widened,
            _ => Effect::Changed,
        };
        self.keyword(effect, at, name, (old, new));
    }

    /// Compares a schema that applies in addition, or to a part of a value: without it, more is allowed. `inside` is what is
    /// known of differences within it.
    pub(super) fn part(
        &mut self,
        schemas: (&'a JsonObject, &'a JsonObject),
        name: &str,
        at: At<'_>,
        inside: Role,
    ) {
        let values = (schemas.0.get(name), schemas.1.get(name));
        match values {
            (Some(old), Some(new)) => {
                let at = at.to(at.path.key(name)).with(inside);
                self.compare(Node::of(old), Node::of(new), at);
            }
            (None, Some(new)) if !Node::of(new).allows_all() => {
                self.keyword(Effect::Narrowed, at, name, values);
            }
            (Some(old), None) if !Node::of(old).allows_all() => {
                self.keyword(Effect::Widened, at, name, values);
            }
            _ => {}
        }
    }
}
