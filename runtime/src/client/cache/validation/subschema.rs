//! One subschema of an analysed schema.

use std::collections::HashMap;

/// Index of a subschema in its plan.
pub(super) type Index = usize;

/// Subschema with its targets and the work of its keywords.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is about another keyword"
)]
pub(super) struct Subschema {
    /// Subschemas for the same value.
    pub(super) same_value: Vec<Index>,
    /// Subschemas for the member of that name.
    pub(super) properties: HashMap<Box<str>, Index>,
    /// Subschemas that may apply to any member of an object.
    pub(super) members: Vec<Index>,
    /// Subschemas for the names of members.
    pub(super) names: Vec<Index>,
    /// Subschemas that may apply to any item of a list.
    pub(super) items: Vec<Index>,
    /// Size of the values to compare with.
    pub(super) compared: u64,
    /// Steps for each piece of a string, for keywords other than patterns.
    pub(super) text_steps: u64,
    /// Lookups of names in an object; a long name counts as several.
    pub(super) lookups: u64,
    /// Has `contains`, which counts matching items.
    pub(super) contains: bool,
    /// Has `uniqueItems`, which compares all items with each other.
    pub(super) unique_items: bool,
    /// Steps for each piece of a string, for patterns.
    pub(super) text_pattern_steps: u64,
    /// Steps for each piece of a member's name, for patterns.
    pub(super) name_pattern_steps: u64,
    /// Has a pattern that may need backtracking, and so take more than linear time.
    pub(super) needs_backtracking: bool,
    /// Depends on the members or items that other keywords have evaluated.
    pub(super) uses_unevaluated: bool,
}
