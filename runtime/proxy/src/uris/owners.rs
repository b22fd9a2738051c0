//! Owners of URIs, and prefixes of URIs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Owners of URIs, and prefixes of URIs. All mounts of a proxy share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
pub(super) struct Table {
    /// Owners of URIs and templates that are served unchanged, by the number of their mount.
    pub(super) owners: HashMap<Box<str>, u64>,
    /// Prefixes of all mounts; empty without a namespace.
    pub(super) prefixes: HashMap<u64, Box<str>>,
    /// Namespaces of the prefixes that are not empty. Two namespaces never share a prefix.
    namespaces: HashMap<Box<str>, Namespace>,
}

/// Namespace of a prefix.
#[derive(Debug)]
struct Namespace {
    name: Box<str>,
    /// The number of mounts: a mount is replaced by one with the same namespace.
    mounts: usize,
}

impl Owners {
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Returns true if the URI or template certainly belongs to another mount.
    pub(super) fn is_foreign(&self, uri: &str, mount: u64) -> bool {
        self.owners.get(uri).is_some_and(|owner| *owner != mount)
            || self.has_foreign_prefix(uri, mount)
    }

    /// Returns true if the URI starts with the prefix of another mount.
    pub(super) fn has_foreign_prefix(&self, uri: &str, mount: u64) -> bool {
        // A prefix has one `+`, at its end.
        let Some(prefix) = uri.find('+').map(|end| &uri[..=end]) else {
            return false;
        };
        let own = self.prefixes.get(&mount);
        own.is_none_or(|own| **own != *prefix) && self.namespaces.contains_key(prefix)
    }

    /// Adds a mount. Returns its prefix.
    pub(super) fn insert(&mut self, mount: u64, namespace: &str) -> String {
        let prefix = self.prefix_of(namespace);
        self.prefixes.insert(mount, prefix.as_str().into());
        if !prefix.is_empty() {
            let entry = self.namespaces.entry(prefix.as_str().into());
            let held = entry.or_insert_with(|| Namespace {
                name: namespace.into(),
                mounts: 0,
            });
            held.mounts += 1;
        }
        prefix
    }

    /// Returns the prefix of a namespace, with a number if another namespace has the first choice.
    fn prefix_of(&self, namespace: &str) -> String {
        let mut held = self.namespaces.iter();
        if let Some((prefix, _)) = held.find(|(_, one)| *one.name == *namespace) {
            return prefix.to_string();
        }
        let Some(scheme) = scheme_of(namespace) else {
            return String::new();
        };
        let mut prefix = format!("{scheme}+");
        let mut number = 2;
        while self.namespaces.contains_key(prefix.as_str()) {
            prefix = format!("{scheme}-{number}+");
            number += 1;
        }
        prefix
    }

    pub(super) fn remove(&mut self, mount: u64) {
        self.owners.retain(|_, owner| *owner != mount);
        let Some(prefix) = self.prefixes.remove(&mount) else {
            return;
        };
        if let Some(held) = self.namespaces.get_mut(&prefix) {
            held.mounts -= 1;
            if held.mounts == 0 {
                self.namespaces.remove(&prefix);
            }
        }
    }
}

/// Returns the namespace as the start of a URI scheme, which has letters, digits, `+`, `-` and `.` and starts with a letter. It has no
/// `+`. An empty namespace has none.
fn scheme_of(namespace: &str) -> Option<String> {
    let first = namespace.chars().next()?;
    let legal = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => character,
        _ => '-',
    };
    let start = if first.is_ascii_alphabetic() {
        ""
    } else {
        "x-"
    };
    Some(start.chars().chain(namespace.chars().map(legal)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_the_start_of_a_scheme() {
        let table = [
            ("weather", "weather+"),
            ("a_b", "a-b+"),
            ("a+b:c", "a-b-c+"),
            ("1st", "x-1st+"),
            ("", ""),
        ];
        for (namespace, expected) in table {
            let mut owners = Table::default();
            assert_eq!(owners.insert(1, namespace), expected);
        }
    }

    #[test]
    fn two_namespaces_have_two_prefixes() {
        let mut owners = Table::default();
        for (mount, namespace, expected) in [
            (1, "a_b", "a-b+"),
            (2, "a-b", "a-b-2+"),
            (3, "a-b-2", "a-b-2-2+"),
            (4, "a+b", "a-b-3+"),
            // A mount is replaced.
            (5, "a-b", "a-b-2+"),
            (6, "a_b", "a-b+"),
        ] {
            assert_eq!(owners.insert(mount, namespace), expected);
        }
        for mount in [1, 2, 6] {
            owners.remove(mount);
        }
        assert_eq!(owners.insert(7, "a-b"), "a-b-2+");
        assert!(!owners.has_foreign_prefix("a-b+data:x", 3));
        assert!(owners.has_foreign_prefix("a-b-2+data:x", 3));
    }
}
