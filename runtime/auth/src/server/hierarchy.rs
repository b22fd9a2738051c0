//! Implications between scopes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::{AuthError, Scopes};

/// Function that decides whether granted scopes include a scope.
pub(super) type ScopeRule = Arc<dyn Fn(&Scopes, &str) -> bool + Send + Sync>;

/// Implications between scopes: `files` may include `files:read`.
#[derive(Clone, Default)]
pub(super) struct Hierarchy {
    /// The scopes that include a scope, directly or through others.
    including: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
    rule: Option<ScopeRule>,
}

impl fmt::Debug for Hierarchy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Hierarchy")
            .field("including", &self.including)
            .finish_non_exhaustive()
    }
}

impl Hierarchy {
    /// Collects implications, each from a scope to those that it includes.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if a scope includes itself through others.
    pub(super) fn new(
        implications: &[(String, Scopes)],
        rule: Option<ScopeRule>,
    ) -> Result<Self, AuthError> {
        let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (scope, included) in implications {
            direct.entry(scope).or_default().extend(included.iter());
        }
        let mut including: BTreeMap<Box<str>, BTreeSet<Box<str>>> = BTreeMap::new();
        for scope in direct.keys() {
            for included in reachable(&direct, scope) {
                if included == *scope {
                    return Err(AuthError::invalid(format!(
                        "the scope `{scope}` implies itself; remove one of the implications of this circle"
                    )));
                }
                let scopes = including.entry(included.into()).or_default();
                scopes.insert((*scope).into());
            }
        }
        Ok(Self { including, rule })
    }

    /// Returns the granted scopes and those that they imply. Those of a rule cannot be listed.
    pub(super) fn granted(&self, granted: &Scopes) -> Vec<String> {
        let implied = self.including.keys().map(|scope| &**scope);
        let implied = implied.filter(|scope| self.includes(granted, scope));
        let own = granted
            .iter()
            .filter(|scope| !self.including.contains_key(*scope));
        own.chain(implied).map(str::to_owned).collect()
    }

    /// Returns true if `granted` includes `scope`.
    pub(super) fn includes(&self, granted: &Scopes, scope: &str) -> bool {
        let implied = || {
            let including = self.including.get(scope);
            including.is_some_and(|scopes| scopes.iter().any(|scope| granted.contains(scope)))
        };
        let by_rule = || self.rule.as_ref().is_some_and(|rule| rule(granted, scope));
        granted.contains(scope) || implied() || by_rule()
    }
}

/// Returns the scopes that `scope` includes, directly or through others.
fn reachable<'a>(direct: &BTreeMap<&'a str, BTreeSet<&'a str>>, scope: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = direct.get(scope).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(direct.get(next).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Scopes {
        text.parse().unwrap()
    }

    #[test]
    fn implications_are_transitive_and_have_one_direction() {
        let implications = [
            ("admin".to_owned(), scopes("files")),
            ("files".to_owned(), scopes("files:read files:write")),
        ];
        let hierarchy = Hierarchy::new(&implications, None).unwrap();
        let cases = [
            ("files", "files:read", true),
            ("admin", "files:write", true),
            ("files:read", "files:read", true),
            ("files:read", "files", false),
            ("files", "admin", false),
            ("files", "files:reader", false),
            ("", "files:read", false),
        ];
        for (granted, scope, expected) in cases {
            let includes = hierarchy.includes(&scopes(granted), scope);
            assert_eq!(includes, expected, "AUTH-R-55: {granted} {scope}");
        }
    }

    #[test]
    fn circles_are_refused() {
        for circle in [&["a b", "b c", "c a"][..], &["a a"]] {
            let implications: Vec<_> = circle
                .iter()
                .map(|pair| pair.split_once(' ').unwrap())
                .map(|(scope, included)| (scope.to_owned(), scopes(included)))
                .collect();
            let error = Hierarchy::new(&implications, None).unwrap_err();
            assert!(error.to_string().contains("implies itself"), "AUTH-R-55");
        }
    }

    #[test]
    fn a_rule_adds_to_the_implications() {
        let rule: ScopeRule = Arc::new(|granted, scope| {
            let area = scope.split(':').next().unwrap_or_default();
            granted.contains(format!("{area}:*"))
        });
        let hierarchy = Hierarchy::new(&[], Some(rule)).unwrap();
        assert!(
            hierarchy.includes(&scopes("files:*"), "files:read"),
            "AUTH-R-55"
        );
        assert!(!hierarchy.includes(&scopes("files:*"), "mail:read"));
    }
}
