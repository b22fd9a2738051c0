//! Keeps a `null` that was written apart from nothing at all.

use serde::{Deserialize, Deserializer};

/// Reads what is there, `null` too, as `Some`; for absent members there is `#[serde(default)]`.
pub(crate) fn some<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}
