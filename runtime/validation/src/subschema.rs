//! One subschema of an analysed schema.

use std::collections::HashMap;

use crate::keyword::AppliesTo;

/// Index of a subschema in its plan.
pub(crate) type Index = usize;

/// Subschema with its targets and the work of its keywords.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is about another keyword"
)]
pub(crate) struct Subschema {
    /// Subschemas for the same value.
    pub(crate) same_value: Vec<Index>,
    /// Subschemas for the member of that name.
    pub(crate) properties: HashMap<Box<str>, Index>,
    /// Subschemas that may apply to any member of an object.
    pub(crate) members: Vec<Index>,
    /// Subschemas for the names of members.
    pub(crate) names: Vec<Index>,
    /// Subschemas that may apply to any item of a list.
    pub(crate) items: Vec<Index>,
    /// Size of the values to compare with.
    pub(crate) compared: u64,
    /// Steps for each piece of a string, for keywords other than patterns.
    pub(crate) text_steps: u64,
    /// Lookups of names in an object; a long name counts as several.
    pub(crate) lookups: u64,
    /// Has `contains`, which counts matching items.
    pub(crate) contains: bool,
    /// Has `uniqueItems`, which compares all items with each other.
    pub(crate) unique_items: bool,
    /// Steps for each piece of a string, for patterns.
    pub(crate) text_pattern_steps: u64,
    /// Steps for each piece of a member's name, for patterns.
    pub(crate) name_pattern_steps: u64,
    /// Has a pattern that may need backtracking, and so take more than linear time.
    pub(crate) needs_backtracking: bool,
    /// Depends on the members or items that other keywords have evaluated.
    pub(crate) uses_unevaluated: bool,
}

impl Subschema {
    pub(crate) fn link(&mut self, applies_to: AppliesTo, inner: Index) {
        match applies_to {
            AppliesTo::SameValue => self.same_value.push(inner),
            AppliesTo::Members => self.members.push(inner),
            AppliesTo::Names => self.names.push(inner),
            AppliesTo::Items => self.items.push(inner),
            AppliesTo::ReferencesOnly => {}
        }
    }
}
