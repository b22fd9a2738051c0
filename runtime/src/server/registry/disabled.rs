//! Disabled features of sources, which stay disabled when their source provides them again.

use std::collections::HashSet;
use std::sync::Arc;

use crate::entry::{Entry, EntryKind};
use crate::server::edit::Component;
use crate::server::provider::Provider;
use crate::server::registry::entries::EntryList;

/// Maximum number of disabled features for each source that are remembered while the source does not have them.
const MAX_ABSENT: usize = 1000;

/// Disabled features of sources, in the order in which they were disabled.
///
/// A source may provide a list without a feature for a while: its server restarts, or wants to have the feature enabled again.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisabledFeatures(Vec<Arc<DisabledFeature>>);

#[derive(Debug)]
struct DisabledFeature {
    provider: Provider,
    kind: EntryKind,
    /// The name with dots.
    name: Arc<str>,
    key: Box<str>,
}

impl DisabledFeatures {
    /// Returns the keys of those of `provider` and this kind.
    #[inline]
    pub(crate) fn keys(&self, provider: &Provider, kind: EntryKind) -> HashSet<&str> {
        let own = self.0.iter();
        let own = own.filter(|one| one.provider == *provider && one.kind == kind);
        own.map(|one| &*one.key).collect()
    }

    /// Adds entries of `provider`, which have different keys.
    #[inline]
    pub(crate) fn add(&mut self, provider: &Provider, kind: EntryKind, entries: &[Arc<Entry>]) {
        let known = self.keys(provider, kind);
        let new = entries.iter().filter(|one| !known.contains(one.key()));
        let new = new.map(|entry| DisabledFeature {
            provider: provider.clone(),
            kind,
            name: Arc::clone(&entry.name),
            key: entry.key().into(),
        });
        let new: Vec<_> = new.map(Arc::new).collect();
        self.0.extend(new);
    }

    /// Removes the features that `item` selects, and returns their number.
    #[inline]
    pub(crate) fn enable(&mut self, item: &Component) -> usize {
        let before = self.0.len();
        self.0
            .retain(|one| !item.selects(one.kind, &one.name, &one.key));
        before - self.0.len()
    }

    /// Removes those of dropped sources, and the oldest ones beyond the bound that `provider` does not have in `lists`.
    #[inline]
    pub(crate) fn trim(&mut self, provider: &Provider, lists: [&EntryList; 5]) {
        self.0.retain(|one| !one.provider.is_dropped());
        if self.0.len() <= MAX_ABSENT {
            return;
        }
        let present: HashSet<(EntryKind, &str)> = lists
            .into_iter()
            .flat_map(|list| list.provided_keys(provider).map(|key| (list.kind(), key)))
            .collect();
        let is_absent = |one: &DisabledFeature| {
            one.provider == *provider && !present.contains(&(one.kind, &*one.key))
        };
        let absent = self.0.iter().filter(|one| is_absent(one)).count();
        let mut excess = absent.saturating_sub(MAX_ABSENT);
        self.0.retain(|one| {
            let is_excess = excess > 0 && is_absent(one);
            excess -= usize::from(is_excess);
            !is_excess
        });
    }
}
