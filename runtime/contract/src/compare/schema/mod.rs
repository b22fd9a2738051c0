//! Two schemas beside each other: does the one allow what the other did?
//!
//! `side` finds what a schema says, whatever way it says it; `walk` is where both are, and what was found there; the others
//! compare one kind of keywords each.

mod branches;
mod choices;
mod lists;
mod named;
mod names;
mod numbers;
mod objects;
mod path;
mod side;
mod texts;
mod types;
mod untold;
mod walk;
mod words;

use treenail_schema::JsonObject;

use self::path::Path;
use self::side::Node;
use self::walk::{At, Walk};
use crate::Severity;
use crate::compare::report::Entry;

/// On which side of a program the values of a schema are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::compare) enum Role {
    /// It sends them, so what was allowed has to stay allowed.
    Input,
    /// It gets them, so nothing may be allowed that was not.
    Output,
    /// It is not clear what follows from a difference here, as within `not`.
    Unclear,
}

/// What a difference does to the values that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// There are fewer.
    Narrowed,
    /// There are more.
    Widened,
    /// There are others, or it is not known.
    Changed,
}

impl Role {
    fn severity(self, effect: Effect) -> Severity {
        match (self, effect) {
            (Self::Input, Effect::Widened) | (Self::Output, Effect::Narrowed) => Severity::Additive,
            _ => Severity::Breaking,
        }
    }
}

/// Compares two schemas that stand at `place` in their entries.
pub(in crate::compare) fn compare_schemas(
    old: &JsonObject,
    new: &JsonObject,
    role: Role,
    place: &str,
    entry: &mut Entry<'_, '_>,
) {
    if old == new {
        return;
    }
    let mut walk = Walk::new(old, new, place, entry);
    let at = At {
        role,
        path: Path::whole(place),
        depth: 0,
    };
    walk.compare(Node::Object(old), Node::Object(new), at);
    walk.finish();
}
