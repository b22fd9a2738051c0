//! Protocol revisions and sets of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A revision of the protocol; later ones are greater. Further ones are added as the protocol has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// The first revision.
    V2024_11_05,
    /// With tool annotations, audio and streamable HTTP.
    V2025_03_26,
    /// With structured output, resource links and elicitation.
    V2025_06_18,
    /// With icons, tasks and tools in sampling.
    V2025_11_25,
    /// Without sessions: each request declares its revision.
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest revision that uses the `initialize` handshake.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// Returns the revision's name on the wire, its date.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns `true` if requests are self-contained, without the `initialize` handshake.
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// Returns the revision's index in [`Revision::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(name: &str) -> Result<Self, UnknownRevision> {
        let known = Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == name);
        known.ok_or_else(|| UnknownRevision(name.to_owned()))
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// Error for the name of an unknown revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRevision(String);

impl UnknownRevision {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown protocol revision `{}`", self.0)
    }
}

impl std::error::Error for UnknownRevision {}

/// A set of revisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RevisionSet(u8);

impl RevisionSet {
    /// Bit `n` represents the revision with index `n`.
    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns `true` if the set contains `revision`.
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & (1 << revision.index()) != 0
    }

    /// Returns `true` if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the oldest revision.
    pub fn first(self) -> Option<Revision> {
        self.iter().next()
    }

    /// Returns the newest revision.
    pub fn last(self) -> Option<Revision> {
        self.iter().next_back()
    }

    /// Iterates over the revisions, oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Revision> {
        Revision::ALL
            .into_iter()
            .filter(move |revision| self.contains(*revision))
    }
}
