//! Visits of subschemas while the cost of a validation is counted.

use serde_json::Value;

use crate::subschema::Index;

/// Part of a value that a subschema is applied to.
#[derive(Clone, Copy)]
pub(crate) enum Instance<'a> {
    Value(&'a Value),
    /// The name of a member.
    Name(&'a str),
}

/// Application of a subschema that has not been counted yet.
#[derive(Clone, Copy)]
pub(crate) struct Visit<'a> {
    pub(crate) index: Index,
    pub(crate) instance: Instance<'a>,
    pub(crate) depth: u32,
    /// Bytes of the JSON Pointer to the instance.
    pub(crate) path_bytes: usize,
    /// The visit only determines the evaluated members and items, for an `unevaluated…` keyword around it.
    pub(crate) rescan_only: bool,
}

impl<'a> Visit<'a> {
    /// Returns the visit of an item.
    pub(crate) fn of_item(self, item: &'a Value) -> Self {
        Self {
            instance: Instance::Value(item),
            path_bytes: self.path_bytes + 8,
            rescan_only: false,
            ..self
        }
    }

    /// Returns the visit of a member, which is never part of the rescan of its object.
    pub(crate) fn of_member(self, name: &str, member: &'a Value) -> Self {
        Self {
            instance: Instance::Value(member),
            path_bytes: self.path_bytes + 1 + name.len(),
            rescan_only: false,
            ..self
        }
    }
}
