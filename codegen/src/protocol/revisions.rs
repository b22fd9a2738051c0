//! Sets of revisions, in the representation of the generated tables.

/// A bit set: bit `n` represents the revision with index `n`, oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RevisionSet(pub u8);

impl RevisionSet {
    pub(crate) fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The index of the oldest revision in the set.
    pub(crate) fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }
}
