//! Availability of the members of a type in each revision.

use crate::generated::revisions::FIELDS;
use crate::{Revision, RevisionSet};

/// Availability of one member of a type in each revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldFacts {
    /// The type's name in this crate.
    pub definition: &'static str,
    /// The member's name in JSON.
    pub field: &'static str,
    /// Revisions that have it.
    pub revisions: RevisionSet,
    /// Revisions that require it.
    pub required: RevisionSet,
}

impl FieldFacts {
    pub(crate) const fn new(
        definition: &'static str,
        field: &'static str,
        revisions: u8,
        required: u8,
    ) -> Self {
        let revisions = RevisionSet::from_bits(revisions);
        Self {
            definition,
            field,
            revisions,
            required: RevisionSet::from_bits(required),
        }
    }

    /// Returns the first revision that has the member.
    pub fn since(&self) -> Option<Revision> {
        self.revisions.first()
    }

    /// Returns the last revision that has the member.
    pub fn until(&self) -> Option<Revision> {
        self.revisions.last()
    }
}

/// Returns the facts about the member `field` of the type `definition`.
///
/// ```
/// use treenail_schema::{Revision, field};
///
/// let icons = field("Tool", "icons").expect("tools have icons");
/// assert_eq!(icons.since(), Some(Revision::V2025_11_25));
/// ```
pub fn field(definition: &str, field: &str) -> Option<&'static FieldFacts> {
    let key = (definition, field);
    let found = FIELDS.binary_search_by(|facts| (facts.definition, facts.field).cmp(&key));
    found.ok().map(|index| &FIELDS[index])
}

/// Returns the facts about all members of the type `definition`.
pub fn fields(definition: &str) -> &'static [FieldFacts] {
    let start = FIELDS.partition_point(|facts| facts.definition < definition);
    let end = FIELDS.partition_point(|facts| facts.definition <= definition);
    &FIELDS[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(FIELDS.is_sorted_by_key(|facts| (facts.definition, facts.field)));
    }

    #[test]
    fn a_field_may_be_required_in_the_newest_revision_only() {
        let ttl = field("ListToolsResult", "ttlMs").unwrap();
        assert_eq!(ttl.required.first(), Some(Revision::V2026_07_28));
        assert!(fields("ListToolsResult").contains(ttl));
        assert_eq!(field("ListToolsResult", "unheard"), None);
    }

    #[test]
    fn a_field_may_be_gone_in_the_newest_revision() {
        assert_eq!(
            field("Tool", "execution").unwrap().until(),
            Some(Revision::V2025_11_25)
        );
    }
}
