//! Comparison of two schemas: does the new one allow fewer, more or other values?
//!
//! `normalize` resolves equivalent forms of a schema. `walk` traverses both schemas and reports differences. `text` and
//! `unvisited_text` find text for models. The other modules compare one group of keywords each.

mod added_members;
mod applicators;
mod arrays;
mod branches;
mod changes;
mod constants;
mod lost_members;
mod normalize;
mod numbers;
mod object_members;
mod objects;
mod path;
mod patterns;
mod scope;
mod strings;
mod text;
mod types;
mod unvisited_text;
mod walk;

use treenail_schema::JsonObject;

use self::normalize::Node;
use self::path::{Path, Position};
use self::walk::Walk;
use crate::Severity;
use crate::compare::report::EntryReport;

/// Direction of the values of a schema, from the point of view of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::compare) enum Direction {
    /// The program sends them, so every value that was allowed must remain allowed.
    Input,
    /// The program receives them, so no value may become allowed that was not.
    Output,
    /// The effect of a difference cannot be judged, as within `not`.
    Unknown,
}

/// Effect of a difference on the set of allowed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Fewer values.
    Narrowed,
    /// More values.
    Widened,
    /// Other values, or an unknown effect.
    Changed,
}

impl Direction {
    fn severity(self, effect: Effect) -> Severity {
        match (self, effect) {
            (Self::Input, Effect::Widened) | (Self::Output, Effect::Narrowed) => Severity::Additive,
            _ => Severity::Breaking,
        }
    }
}

/// Compares two schemas at the JSON Pointer `location` of their entries.
pub(in crate::compare) fn compare_schemas(
    old: &JsonObject,
    new: &JsonObject,
    direction: Direction,
    location: &str,
    entry: &mut EntryReport<'_, '_>,
) {
    if old == new {
        return;
    }
    let mut walk = Walk::new(old, new, location, entry);
    let at = Position {
        direction,
        path: Path::root(location),
        depth: 0,
    };
    walk.compare(Node::Object(old), Node::Object(new), at);
    walk.finish();
}
