//! URIs of the resources of a server inside of a proxy.
//!
//! A URI stays as it is if no other server of the proxy has it. Otherwise its scheme gets the namespace as a prefix:
//! `weather+file:///today`. The prefixed form of every URI is accepted, and removing the prefix gives the URI of the server.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Owners of URIs and templates that are served unchanged, by the number of their mount. All mounts of a proxy share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners(Arc<Mutex<HashMap<Box<str>, u64>>>);

impl Owners {
    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// URIs of one mount.
#[derive(Debug)]
pub(crate) struct Uris {
    owners: Owners,
    mount: u64,
    /// The namespace as the start of a scheme, with `+`. Empty without a namespace.
    prefix: String,
}

impl Uris {
    pub(crate) fn new(owners: Owners, mount: u64, namespace: &str) -> Self {
        Self {
            owners,
            mount,
            prefix: scheme_prefix(namespace),
        }
    }

    /// Returns the start of all prefixed URIs; empty without a namespace.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Claims the URIs and templates of the server, and releases those that it does not have any more. The first owner of a URI
    /// stays its owner as long as it has the resource, so that no other server can take it over.
    pub(crate) fn claim<'a>(&self, uris: impl Iterator<Item = &'a str> + Clone) {
        let mut owners = self.owners.lock();
        let mine: std::collections::HashSet<&str> = uris.clone().collect();
        owners.retain(|uri, owner| *owner != self.mount || mine.contains(&**uri));
        for uri in uris {
            owners.entry(uri.into()).or_insert(self.mount);
        }
    }

    /// Returns the URI or template at the proxy; `None` if another server has it and there is no namespace.
    pub(crate) fn listed<'a>(&self, uri: &'a str) -> Option<Cow<'a, str>> {
        let owner = self.owners.lock().get(uri).copied();
        match owner {
            Some(owner) if owner != self.mount => self.prefixed(uri).map(Cow::Owned),
            _ => Some(Cow::Borrowed(uri)),
        }
    }

    /// Returns the URI at the proxy of a resource that a result refers to, if it differs. `is_reachable` is true if the proxy
    /// finds the resource of this server under its own URI.
    pub(crate) fn referred(
        &self,
        uri: &str,
        is_reachable: impl FnOnce(&str) -> bool,
    ) -> Option<String> {
        let owner = self.owners.lock().get(uri).copied();
        match owner {
            Some(owner) if owner == self.mount => None,
            None if is_reachable(uri) => None,
            _ => self.prefixed(uri),
        }
    }

    /// Returns the URI at the server of a URI at the proxy.
    pub(crate) fn at_server<'a>(&self, uri: &'a str) -> &'a str {
        match uri.strip_prefix(&self.prefix) {
            Some(rest) if !self.prefix.is_empty() => rest,
            _ => uri,
        }
    }

    /// Returns false if the URI of the proxy certainly belongs to another server.
    pub(crate) fn may_own(&self, uri: &str) -> bool {
        if !self.prefix.is_empty() && uri.starts_with(&self.prefix) {
            return true;
        }
        let owners = self.owners.lock();
        owners.get(uri).is_none_or(|owner| *owner == self.mount)
    }

    /// Returns all URIs at the proxy of a resource of the server.
    pub(crate) fn all(&self, uri: &str) -> Vec<String> {
        let owner = self.owners.lock().get(uri).copied();
        let plain = owner.is_none_or(|owner| owner == self.mount);
        let plain = plain.then(|| uri.to_owned());
        plain.into_iter().chain(self.prefixed(uri)).collect()
    }

    fn prefixed(&self, uri: &str) -> Option<String> {
        (!self.prefix.is_empty()).then(|| format!("{}{uri}", self.prefix))
    }
}

impl Drop for Uris {
    fn drop(&mut self) {
        self.owners.lock().retain(|_, owner| *owner != self.mount);
    }
}

/// Returns the namespace as the start of a URI scheme, which has letters, digits, `+`, `-` and `.` and starts with a letter.
pub(crate) fn scheme_prefix(namespace: &str) -> String {
    if namespace.is_empty() {
        return String::new();
    }
    let legal = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => character,
        _ => '-',
    };
    let scheme: String = namespace.chars().map(legal).collect();
    if scheme.starts_with(|first: char| first.is_ascii_alphabetic()) {
        format!("{scheme}+")
    } else {
        format!("x-{scheme}+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no(_: &str) -> bool {
        false
    }

    #[test]
    fn only_the_uri_of_a_second_owner_is_changed() {
        let owners = Owners::default();
        let first = Uris::new(owners.clone(), 1, "one");
        let second = Uris::new(owners.clone(), 2, "two");
        first.claim(["data://a", "data://b"].into_iter());
        second.claim(["data://b", "data://c"].into_iter());
        assert_eq!(first.listed("data://b").unwrap(), "data://b");
        assert_eq!(second.listed("data://b").unwrap(), "two+data://b");
        assert_eq!(second.listed("data://c").unwrap(), "data://c");
        assert_eq!(second.at_server("two+data://b"), "data://b");
        assert_eq!(second.referred("data://b", no).unwrap(), "two+data://b");
        assert_eq!(second.referred("data://c", no), None);
        // A resource that is not listed can be found under the prefixed URI only.
        assert_eq!(second.referred("data://d", no).unwrap(), "two+data://d");
        assert_eq!(second.referred("data://d", |_| true), None);
    }

    #[test]
    fn an_owner_keeps_its_uri_until_it_drops_the_resource() {
        let owners = Owners::default();
        let late = Uris::new(owners.clone(), 1, "late");
        let early = Uris::new(owners.clone(), 2, "early");
        early.claim(["data://a"].into_iter());
        late.claim(["data://a"].into_iter());
        assert_eq!(late.listed("data://a").unwrap(), "late+data://a");
        drop(early);
        late.claim(["data://a"].into_iter());
        assert_eq!(late.listed("data://a").unwrap(), "data://a");
    }

    #[test]
    fn without_a_namespace_there_is_no_second_owner() {
        let owners = Owners::default();
        let first = Uris::new(owners.clone(), 1, "one");
        let second = Uris::new(owners, 2, "");
        first.claim(["data://a"].into_iter());
        second.claim(["data://a"].into_iter());
        assert_eq!(second.listed("data://a"), None);
        assert_eq!(second.at_server("data://b"), "data://b");
    }

    #[test]
    fn a_prefix_is_the_start_of_a_scheme() {
        let table = [
            ("weather", "weather+"),
            ("a_b", "a-b+"),
            ("1st", "x-1st+"),
            ("", ""),
        ];
        for (namespace, expected) in table {
            assert_eq!(scheme_prefix(namespace), expected);
        }
    }
}
