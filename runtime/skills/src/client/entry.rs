//! Entries of skills, as a server sends them.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use treenail_schema::JsonObject;

use super::error::SkillError;
use super::reference::resolve;
use crate::limits::{MAX_BYTES, MAX_FILES};
use crate::skill::SKILL_FILE;

/// Entry of a skill: its front matter and the digests of its files. All of it is untrusted input.
#[cfg(feature = "client")]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SkillEntry {
    /// The URI of `SKILL.md`, which identifies the skill at its server. Skills of several servers may have equal URIs and names.
    pub uri: String,
    /// The front matter.
    pub frontmatter: JsonObject,
    /// The files.
    #[serde(default = "SkillResources::missing")]
    pub resources: SkillResources,
}

/// Files of a [`SkillEntry`].
#[cfg(feature = "client")]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkillResources {
    /// All files, with `SKILL.md`.
    Listed(Vec<SkillFile>),
    /// The server does not know the files ahead, so there are no digests. An approval cannot be bound to such a skill.
    Dynamic,
    /// Anything else, or nothing. Such a skill cannot be loaded.
    Invalid,
}

/// File of a [`SkillEntry`].
#[cfg(feature = "client")]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// The URI.
    pub uri: String,
    /// `sha256:`, and 64 lower-case hexadecimal digits.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
}

impl<'de> Deserialize<'de> for SkillResources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value == "dynamic" {
            return Ok(Self::Dynamic);
        }
        // One broken entry must not hide the others of its list.
        Ok(serde_json::from_value(value).map_or(Self::Invalid, Self::Listed))
    }
}

impl SkillResources {
    fn missing() -> Self {
        Self::Invalid
    }
}

/// Reads the entries of a list. One without the form of an entry must not hide the others, and is skipped.
pub(super) fn entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<SkillEntry>, D::Error> {
    let entries = Vec::<Value>::deserialize(deserializer)?.into_iter();
    let entries = entries.filter_map(|entry| serde_json::from_value(entry).ok());
    Ok(entries.collect())
}

impl SkillEntry {
    /// Returns the name in the front matter, or an empty text.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Returns the description in the front matter, or an empty text.
    pub fn description(&self) -> &str {
        self.text("description")
    }

    fn text(&self, field: &str) -> &str {
        self.frontmatter
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Returns the root of the skill: its URI without `/SKILL.md`.
    pub(super) fn root(&self) -> Result<&str, SkillError> {
        let root = self.uri.strip_suffix(SKILL_FILE);
        let root = root.and_then(|root| root.strip_suffix('/'));
        root.ok_or_else(|| self.invalid("its URI does not end in `/SKILL.md`"))
    }

    /// Checks the list of files.
    pub(super) fn check(&self) -> Result<(), SkillError> {
        let root = self.root()?;
        let files = match &self.resources {
            SkillResources::Dynamic => return Ok(()),
            SkillResources::Invalid => {
                return Err(self.invalid("`resources` is neither a list of files nor `dynamic`"));
            }
            SkillResources::Listed(files) => files,
        };
        let bytes = files
            .iter()
            .fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if files.len() > MAX_FILES || bytes > MAX_BYTES as u64 {
            return Err(SkillError::TooLarge {
                uri: self.uri.clone(),
            });
        }
        let mut uris = HashSet::new();
        if !files.iter().all(|file| uris.insert(&*file.uri)) {
            return Err(self.invalid("a file is listed twice"));
        }
        let is_inside = |file: &SkillFile| {
            let path = file.uri.strip_prefix(root);
            path.is_some_and(|path| path.starts_with('/')) && resolve(root, &file.uri).is_some()
        };
        if !files.iter().all(is_inside) {
            return Err(self.invalid("a file is not in the folder of the skill"));
        }
        if !uris.contains(&*self.uri) {
            return Err(self.invalid("`SKILL.md` is not among the files"));
        }
        Ok(())
    }

    fn invalid(&self, reason: &str) -> SkillError {
        SkillError::Entry {
            uri: self.uri.clone(),
            reason: reason.to_owned(),
        }
    }
}
