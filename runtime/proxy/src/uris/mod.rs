//! URIs of the resources of a server inside of a proxy.
//!
//! A URI stays as it is if no other server of the proxy has it. Otherwise its scheme gets the namespace as a prefix:
//! `weather+file:///today`. A URI with the prefix of a mount belongs to that mount only, so no other server can list it unchanged.

mod owners;

use std::borrow::Cow;
use std::collections::HashSet;

pub(crate) use self::owners::Owners;

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
        let prefix = owners.lock().insert(mount, namespace);
        Self {
            owners,
            mount,
            prefix,
        }
    }

    /// Returns the start of all prefixed URIs; empty without a namespace.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Claims the URIs and templates of the server, and releases those that it does not have any more. The first owner of a URI
    /// stays its owner as long as it has the resource, so that no other server can take it over. A URI with the prefix of another
    /// mount belongs to that one.
    pub(crate) fn claim<'a>(&self, uris: impl Iterator<Item = &'a str> + Clone) {
        let mut table = self.owners.lock();
        let mine: HashSet<&str> = if table.prefixes.contains_key(&self.mount) {
            let own = uris.clone();
            own.filter(|uri| !table.has_foreign_prefix(uri, self.mount))
                .collect()
        } else {
            // The mount was released.
            HashSet::new()
        };
        let owners = &mut table.owners;
        owners.retain(|uri, owner| *owner != self.mount || mine.contains(&**uri));
        for uri in uris.filter(|uri| mine.contains(uri)) {
            owners.entry(uri.into()).or_insert(self.mount);
        }
    }

    /// Releases all URIs and the prefix. Later claims have no effect.
    pub(crate) fn release(&self) {
        self.owners.lock().remove(self.mount);
    }

    /// Returns the URI or template at the proxy; `None` if another server has it and there is no namespace.
    pub(crate) fn listed<'a>(&self, uri: &'a str) -> Option<Cow<'a, str>> {
        if self.is_foreign(uri) {
            self.prefixed(uri).map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(uri))
        }
    }

    /// Returns the URI at the proxy of a resource that a result refers to, if it differs. `is_reachable` is true if the proxy
    /// finds the resource of this server under its own URI.
    pub(crate) fn referred(
        &self,
        uri: &str,
        is_reachable: impl FnOnce(&str) -> bool,
    ) -> Option<String> {
        let is_foreign = self.is_foreign(uri);
        if !is_foreign && (self.owns(uri) || is_reachable(uri)) {
            return None;
        }
        self.prefixed(uri)
    }

    /// Returns true if the URI or template at the proxy certainly belongs to another server.
    pub(crate) fn is_foreign(&self, uri: &str) -> bool {
        self.owners.lock().is_foreign(uri, self.mount)
    }

    /// Returns true if the server has listed the URI, and it is served unchanged.
    pub(crate) fn owns(&self, uri: &str) -> bool {
        self.owners.lock().owners.get(uri) == Some(&self.mount)
    }

    /// Returns the rest of a URI with the prefix.
    pub(crate) fn without_prefix<'a>(&self, uri: &'a str) -> Option<&'a str> {
        let rest = uri.strip_prefix(&self.prefix);
        rest.filter(|_| !self.prefix.is_empty())
    }

    /// Returns the URI with the prefix, if there is one.
    pub(crate) fn prefixed(&self, uri: &str) -> Option<String> {
        (!self.prefix.is_empty()).then(|| format!("{}{uri}", self.prefix))
    }
}

impl Drop for Uris {
    fn drop(&mut self) {
        self.release();
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
        assert_eq!(second.without_prefix("two+data://b"), Some("data://b"));
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
        assert_eq!(second.without_prefix("data://b"), None);
    }

    #[test]
    fn a_uri_with_the_prefix_of_another_mount_is_not_claimed() {
        let owners = Owners::default();
        let first = Uris::new(owners.clone(), 1, "one");
        first.claim(["two+data://a", "one+data://a"].into_iter());
        assert!(first.owns("two+data://a"));
        // A mount has its prefix from now on.
        let second = Uris::new(owners.clone(), 2, "two");
        assert_eq!(first.listed("two+data://a").unwrap(), "one+two+data://a");
        assert_eq!(
            first.referred("two+data://a", |_| true).unwrap(),
            "one+two+data://a"
        );
        first.claim(["two+data://a", "one+data://a"].into_iter());
        assert!(!first.owns("two+data://a"));
        assert_eq!(first.listed("one+data://a").unwrap(), "one+data://a");
        assert_eq!(second.listed("two+data://a").unwrap(), "two+data://a");
        // A mount that was released claims nothing.
        first.release();
        first.claim(["data://b"].into_iter());
        assert!(!second.is_foreign("data://b"));
    }

    #[test]
    fn the_first_plus_of_a_uri_ends_its_prefix() {
        let owners = Owners::default();
        let [own, _git, _both] = [(1, "own"), (2, "git"), (3, "a+b")]
            .map(|(mount, name)| Uris::new(owners.clone(), mount, name));
        let many = "+".repeat(1 << 20);
        for (uri, expected) in [
            ("git+ssh://host/a", true),
            ("git+own+data:a", true),
            ("git+", true),
            ("a-b+c+data:a", true),
            // The prefix of the mount has no other `+`.
            ("a+b+data:a", false),
            ("own+git+data:a", false),
            ("svn+git+data:a", false),
            ("git:a+b", false),
            ("data:git+a", false),
            ("+git+data:a", false),
            // The comparison is linear.
            (&many, false),
            (&format!("git{many}"), true),
        ] {
            assert_eq!(own.is_foreign(uri), expected, "{uri:.20}");
        }
    }
}
