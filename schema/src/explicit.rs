//! Deserialization that distinguishes `null` from an absent member.

use serde::{Deserialize, Deserializer};

/// Deserializes a present member, even `null`, as `Some`. `#[serde(default)]` handles absent members.
pub(crate) fn some<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}
