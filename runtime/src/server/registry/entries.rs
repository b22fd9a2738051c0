//! All entries of one kind, including disabled ones.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::definition::{Entry, Registered};
use crate::scope::RequiredScopes;
use crate::server::edit::{Change, Component, Which};
use crate::server::registry::index::{Descriptor, separate};
use crate::visibility::Rule;

/// Entries of one kind, in the order in which they were added.
#[derive(Debug)]
pub(crate) struct EntryList<D, X = ()> {
    slots: Vec<Slot<D, X>>,
}

#[derive(Debug)]
struct Slot<D, X> {
    /// The name with dots, independent of the separator that peers see.
    name: Arc<str>,
    entry: Arc<Entry<D, X>>,
    source: Arc<Source>,
    enabled: bool,
}

impl<D, X> Default for EntryList<D, X> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<D, X> Clone for EntryList<D, X> {
    fn clone(&self) -> Self {
        let slot = |slot: &Slot<D, X>| Slot {
            name: Arc::clone(&slot.name),
            entry: Arc::clone(&slot.entry),
            source: Arc::clone(&slot.source),
            enabled: slot.enabled,
        };
        Self {
            slots: self.slots.iter().map(slot).collect(),
        }
    }
}

impl<D: Descriptor, X> EntryList<D, X> {
    pub(crate) fn add(
        &mut self,
        mut bound: Registered<D, X>,
        source: &Arc<Source>,
        separator: Option<&str>,
    ) -> Result<(), String> {
        let name = bound.descriptor.name_mut();
        let full_name = name.as_str().into();
        if let Some(separator) = separator {
            separate(D::KIND, name, separator)?;
        }
        bound.or_scopes(&source.scopes).map_err(|problem| {
            let (kind, key) = (D::KIND, bound.descriptor.key());
            format!("the scopes of the {kind} `{key}`: {problem}")
        })?;
        self.slots.push(Slot {
            name: full_name,
            entry: Arc::new(bound.finish()),
            source: Arc::clone(source),
            enabled: true,
        });
        Ok(())
    }

    /// Adds all entries of `other`.
    pub(crate) fn merge(&mut self, other: Self) {
        self.slots.extend(other.slots);
    }

    /// Adds all entries of `other`, in the places of the entries that have the same keys.
    pub(crate) fn replace(&mut self, other: Self) {
        for slot in other.slots {
            let key = slot.entry.descriptor.key();
            let mut old = self.slots.iter_mut();
            match old.find(|old| old.entry.descriptor.key() == key) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
    }

    /// Replaces the entries of the sources with the id `provider` by those of `other`, in the place of the first one.
    /// Sources have the order of their ids.
    pub(crate) fn provide(&mut self, provider: u64, other: Self) {
        let is_old = |slot: &Slot<D, X>| slot.source.provider == Some(provider);
        let is_later = |slot: &Slot<D, X>| slot.source.provider.is_some_and(|it| it > provider);
        let first = self
            .slots
            .iter()
            .position(|slot| is_old(slot) || is_later(slot));
        self.slots.retain(|slot| !is_old(slot));
        let first = first.unwrap_or(self.slots.len());
        self.slots.splice(first..first, other.slots);
    }

    /// Rejects duplicate keys, also of disabled entries. Those of providers yield, so they may have the keys of others.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut keys = HashSet::with_capacity(self.slots.len());
        let own = self
            .slots
            .iter()
            .filter(|slot| slot.source.provider.is_none());
        let mut own = own.map(|slot| slot.entry.descriptor.key());
        match own.find(|key| !keys.insert(*key)) {
            Some(key) => Err(duplicate::<D>(key)),
            None => Ok(()),
        }
    }

    /// Changes the entries that `item` selects, and returns their number.
    pub(crate) fn change(&mut self, item: &Component, change: Change) -> usize {
        let mut found = 0;
        self.slots.retain_mut(|slot| {
            if !slot.is_selected_by(item) {
                return true;
            }
            found += 1;
            match change {
                Change::Remove => return false,
                Change::Disable => slot.enabled = false,
                Change::Enable => slot.enabled = true,
            }
            true
        });
        found
    }

    /// Iterates over the enabled entries.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = &Arc<Entry<D, X>>> {
        let yields = self.yielding();
        let slots = self.slots.iter().enumerate();
        let enabled = slots.filter(move |(at, slot)| slot.enabled && !yields.contains(at));
        enabled.map(|(_, slot)| &slot.entry)
    }

    /// Returns the places of the entries of providers that yield to another entry: to an enabled one of the server itself, or to
    /// an earlier one of a provider.
    fn yielding(&self) -> HashSet<usize> {
        if self.slots.iter().all(|slot| slot.source.provider.is_none()) {
            return HashSet::new();
        }
        let enabled = self.slots.iter().filter(|slot| slot.enabled);
        let own = enabled.filter(|slot| slot.source.provider.is_none());
        let mut keys: HashSet<&str> = own.map(|slot| slot.entry.descriptor.key()).collect();
        let provided = self.slots.iter().enumerate();
        let provided = provided.filter(|(_, slot)| slot.enabled && slot.source.provider.is_some());
        let yielding = provided.filter(|(_, slot)| !keys.insert(slot.entry.descriptor.key()));
        yielding.map(|(at, _)| at).collect()
    }

    /// Retains the entries for which `keep` returns true, given if they are enabled and do not yield.
    pub(crate) fn retain(&mut self, keep: &mut impl FnMut(bool) -> bool) {
        let yields = self.yielding();
        let mut place = 0;
        self.slots.retain(|slot| {
            let served = slot.enabled && !yields.contains(&place);
            place += 1;
            keep(served)
        });
    }

    /// Iterates over all entries: their names with dots, and the rules of their mounted type or set of functions.
    pub(crate) fn ruled(&self) -> impl Iterator<Item = Ruled<'_, D, X>> {
        self.slots.iter().map(Slot::ruled)
    }

    /// Returns the entry at `position`.
    pub(crate) fn ruled_at(&self, position: usize) -> Option<Ruled<'_, D, X>> {
        self.slots.get(position).map(Slot::ruled)
    }

    pub(crate) fn has_entry_of(&self, source: &Arc<Source>) -> bool {
        self.slots
            .iter()
            .any(|slot| Arc::ptr_eq(&slot.source, source))
    }

    pub(crate) fn has_enabled_entry_of(&self, source: &Arc<Source>) -> bool {
        self.slots
            .iter()
            .any(|slot| slot.enabled && Arc::ptr_eq(&slot.source, source))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| &*slot.name)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.entry.descriptor.key())
    }
}

/// Entry with its name and the rules of its source.
pub(crate) struct Ruled<'a, D, X> {
    pub(crate) name: &'a str,
    pub(crate) entry: &'a Entry<D, X>,
    pub(crate) rules: &'a [Rule],
}

impl<D: Descriptor, X> Slot<D, X> {
    fn ruled(&self) -> Ruled<'_, D, X> {
        Ruled {
            name: &self.name,
            entry: &self.entry,
            rules: &self.source.rules,
        }
    }

    fn is_selected_by(&self, item: &Component) -> bool {
        match &item.which {
            Which::Tool(name) => D::KIND == "tool" && *self.name == **name,
            Which::Prompt(name) => D::KIND == "prompt" && *self.name == **name,
            Which::Resource(uri) => D::KEY == "URI" && self.entry.descriptor.key() == uri,
            Which::Namespace(namespace) => self
                .name
                .strip_prefix(&**namespace)
                .is_some_and(|rest| rest.starts_with('.')),
            Which::Mounted(mounted, _) => self.source.mounted == Some(*mounted),
        }
    }
}

/// Mounted type or set of functions that entries were added with.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) mounted: Option<TypeId>,
    pub(crate) instructions: Cow<'static, str>,
    /// The scopes of entries that declare none.
    pub(crate) scopes: RequiredScopes,
    /// The id of the [`FeatureSource`](crate::FeatureSource) whose content it is.
    pub(crate) provider: Option<u64>,
    /// The rules of its namespaces.
    pub(crate) rules: Vec<Rule>,
    /// Set if it has instructions but no entries.
    pub(crate) bare: bool,
}

#[cold]
fn duplicate<D: Descriptor>(key: &str) -> String {
    let (kind, key_name) = (D::KIND, D::KEY);
    let advice = match key_name {
        "name" => "; give one of them `name = \"…\"` or a namespace",
        _ => "",
    };
    format!("two {kind}s have the {key_name} `{key}`{advice}")
}
