//! Corrections and additions to the schemas: `overlay.toml`, with a record of the used entries.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The overlay file and the set of entries that matched something.
#[derive(Debug)]
pub(crate) struct Overlay {
    entries: Entries,
    all: BTreeSet<String>,
    used: RefCell<BTreeSet<String>>,
}

/// Sections of the file, which documents each of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    external: Section<String>,
    rename: Section<Rename>,
    name: Section<Inline>,
    replace: Section<Replace>,
    newest: Section<Reason>,
    open: Section<Reason>,
    optional: Section<Reason>,
    lenient: Section<Reason>,
    constant: Section<Constant>,
    keep: Section<Reason>,
    error_code: Section<ErrorCode>,
    order: Section<Vec<String>>,
    default: Section<String>,
    union: Section<UnionTag>,
    docs: Section<String>,
}

type Section<T> = BTreeMap<String, T>;

/// Reason for an entry, required for each entry that changes something.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Reason(#[expect(dead_code, reason = "documentation for readers of the file")] String);

impl TryFrom<String> for Reason {
    type Error = &'static str;

    fn try_from(reason: String) -> Result<Self, Self::Error> {
        if reason.trim().is_empty() {
            Err("the reason is empty")
        } else {
            Ok(Self(reason))
        }
    }
}

/// A new name for a definition, in some revisions or in all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    to: String,
    revisions: Option<Vec<String>>,
    #[serde(rename = "reason")]
    _reason: Reason,
}

/// A name for an inline schema.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inline {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) many: bool,
    pub(crate) union: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replace {
    with: String,
    #[serde(rename = "reason")]
    _reason: Reason,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    value: String,
    #[serde(rename = "reason")]
    _reason: Reason,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorCode {
    code: i64,
    #[serde(rename = "reason")]
    _reason: Reason,
}

/// The tag that distinguishes the members of a union.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnionTag {
    pub(crate) noun: String,
    pub(crate) default: Option<String>,
}

impl Overlay {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let entries = toml::from_str(text).context("the overlay file")?;
        let sections: toml::Table = toml::from_str(text)?;
        let mut all = BTreeSet::new();
        for (section, entries) in &sections {
            let keys = entries.as_table().into_iter().flat_map(toml::Table::keys);
            all.extend(keys.map(|key| format!("{section}.{key}")));
        }
        Ok(Self {
            entries,
            all,
            used: RefCell::default(),
        })
    }

    /// Fails if an entry matched nothing, since the schema it was written for has changed.
    pub(crate) fn check_all_used(&self) -> Result<()> {
        let used = self.used.borrow();
        let stale: Vec<&str> = self.all.difference(&used).map(String::as_str).collect();
        ensure!(
            stale.is_empty(),
            "overlay entries that match nothing: {}",
            stale.join(", ")
        );
        Ok(())
    }

    /// The hand-written Rust type for the definition `name`, if there is one.
    pub(crate) fn external(&self, name: &str) -> Option<&str> {
        self.find("external", &self.entries.external, name)
            .map(String::as_str)
    }

    /// The names of all definitions with hand-written types.
    pub(crate) fn externals(&self) -> impl Iterator<Item = &str> {
        self.entries.external.keys().map(String::as_str)
    }

    /// The definitions of `revision` to rename, with their new names.
    pub(crate) fn renames(&self, revision: &str) -> impl Iterator<Item = (&str, &str)> {
        let applies = move |rename: &Rename| match &rename.revisions {
            Some(only) => only.iter().any(|name| name == revision),
            None => true,
        };
        let renames = self
            .entries
            .rename
            .iter()
            .filter(move |(_, rename)| applies(rename));
        renames.map(|(from, rename)| (from.as_str(), rename.to.as_str()))
    }

    /// Records that the entry for `from` renamed a definition.
    pub(crate) fn renamed(&self, from: &str) {
        self.mark("rename", from);
    }

    /// The name for the inline schema at `at`, as in `Tool.annotations`.
    pub(crate) fn name(&self, at: &str) -> Option<&Inline> {
        self.find("name", &self.entries.name, at)
    }

    /// The definition that replaces the schema at `at`.
    pub(crate) fn replacement(&self, at: &str) -> Option<&str> {
        self.find("replace", &self.entries.replace, at)
            .map(|replace| replace.with.as_str())
    }

    /// Returns `true` if the newest shape of the field at `at` is known to be the widest.
    pub(crate) fn newest_is_widest(&self, at: &str) -> bool {
        self.find("newest", &self.entries.newest, at).is_some()
    }

    pub(crate) fn is_open(&self, definition: &str) -> bool {
        self.find("open", &self.entries.open, definition).is_some()
    }

    pub(crate) fn is_optional(&self, at: &str) -> bool {
        self.find("optional", &self.entries.optional, at).is_some()
    }

    /// Returns `true` if the member at `at` is read leniently.
    pub(crate) fn is_lenient(&self, at: &str) -> bool {
        self.find("lenient", &self.entries.lenient, at).is_some()
    }

    /// The only value of the member at `at`.
    pub(crate) fn constant(&self, at: &str) -> Option<&str> {
        self.find("constant", &self.entries.constant, at)
            .map(|constant| constant.value.as_str())
    }

    /// Definitions to generate although no method refers to them.
    pub(crate) fn additional(&self) -> impl Iterator<Item = &str> {
        self.entries.keep.keys().map(String::as_str)
    }

    /// Records that the additional definition exists in some revision.
    pub(crate) fn mark_additional(&self, definition: &str) {
        self.mark("keep", definition);
    }

    /// The error codes that no schema defines.
    pub(crate) fn error_codes(&self) -> impl Iterator<Item = (&str, i64)> {
        self.entries.error_code.iter().map(|(name, entry)| {
            self.mark("error_code", name);
            (name.as_str(), entry.code)
        })
    }

    /// The meaningful order of the values of a string enumeration.
    pub(crate) fn order(&self, definition: &str) -> Option<&[String]> {
        self.find("order", &self.entries.order, definition)
            .map(Vec::as_slice)
    }

    /// The value that a string enumeration has by default.
    pub(crate) fn default(&self, definition: &str) -> Option<&str> {
        self.find("default", &self.entries.default, definition)
            .map(String::as_str)
    }

    pub(crate) fn union_tag(&self, definition: &str) -> Option<&UnionTag> {
        self.find("union", &self.entries.union, definition)
    }

    /// The documentation of a type, of `Type.field`, or else of `*.field`.
    pub(crate) fn docs(&self, at: &str) -> Option<&str> {
        self.find("docs", &self.entries.docs, at)
            .map(String::as_str)
    }

    /// Finds the entry for `at`, or else for its member in any definition, and records its use.
    fn find<'a, T>(&self, section: &str, entries: &'a Section<T>, at: &str) -> Option<&'a T> {
        let anywhere = at.split_once('.').map(|(_, member)| format!("*.{member}"));
        let mut keys = std::iter::once(at).chain(anywhere.as_deref());
        let key = keys.find(|key| entries.contains_key(*key))?;
        self.mark(section, key);
        entries.get(key)
    }

    fn mark(&self, section: &str, key: &str) {
        self.used.borrow_mut().insert(format!("{section}.{key}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../overlay.toml");

    #[test]
    fn an_entry_that_matches_nothing_is_named() {
        let overlay = Overlay::parse(FILE).unwrap();
        overlay.docs("Tool.inputSchema").unwrap();
        let error = overlay.check_all_used().unwrap_err().to_string();
        assert!(error.contains("replace.Tool.inputSchema"), "{error}");
        assert!(!error.contains("docs.Tool.inputSchema"), "{error}");
    }

    #[test]
    fn an_exact_place_takes_precedence_over_a_wildcard() {
        let overlay = Overlay::parse(FILE).unwrap();
        assert_ne!(overlay.docs("Tool.name"), overlay.docs("Resource.name"));
        assert_eq!(
            overlay.docs("Root.uri").is_some(),
            overlay.docs("Resource.uri").is_some()
        );
    }

    #[test]
    fn a_change_without_a_reason_is_rejected() {
        let file = FILE.replace("\"as for `inputSchema`\"", "\"\"");
        let error = format!("{:#}", Overlay::parse(&file).unwrap_err());
        assert!(error.contains("the reason is empty"), "{error}");
    }
}
