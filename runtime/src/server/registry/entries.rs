//! All entries of one kind, including disabled ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::entry::{Descriptor, Entry, EntryKind};
use crate::registered::{Named, Registered};
use crate::server::edit::{Change, Component, Which};
use crate::server::provider::Provider;
use crate::server::registry::disabled::DisabledFeatures;
use crate::server::registry::index::separate;
use crate::server::registry::source::Source;
use crate::visibility::Rule;

/// Entries of one kind, in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct EntryList {
    kind: EntryKind,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
struct Slot {
    entry: Arc<Entry>,
    source: Arc<Source>,
    enabled: bool,
}

impl EntryList {
    pub(crate) fn new(kind: EntryKind) -> Self {
        let slots = Vec::new();
        Self { kind, slots }
    }

    pub(crate) fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Adds an entry. Peers see `separator` in place of the dots of its name.
    pub(crate) fn add<D: Named>(
        &mut self,
        mut registered: Registered<D>,
        describe: impl FnOnce(D) -> Descriptor,
        source: &Arc<Source>,
        separator: Option<&str>,
    ) -> Result<(), String> {
        let name = registered.descriptor.name_mut();
        let full_name: Arc<str> = name.as_str().into();
        if let Some(separator) = separator {
            separate(self.kind.noun(), name, separator)?;
        }
        let entry = registered.finish(full_name, &source.scopes, describe);
        self.push(entry, source)
    }

    fn push(&mut self, mut entry: Entry, source: &Arc<Source>) -> Result<(), String> {
        entry.scopes = std::mem::take(&mut entry.scopes)
            .check()
            .map_err(|problem| {
                let (kind, key) = (self.kind.noun(), entry.key());
                format!("the scopes of the {kind} `{key}`: {problem}")
            })?;
        self.slots.push(Slot {
            entry: Arc::new(entry),
            source: Arc::clone(source),
            enabled: true,
        });
        Ok(())
    }

    /// Adds all entries of `other`.
    #[inline]
    pub(crate) fn merge(&mut self, other: &mut Self) {
        self.slots.append(&mut other.slots);
    }

    /// Adds all entries of `other`, in the places of the entries that have the same keys. Those of providers stay, and yield.
    #[inline]
    pub(crate) fn replace(&mut self, other: &mut Self) {
        let keys = other.keys().map(|key| (key.to_owned(), None));
        let mut places: HashMap<String, Option<usize>> = keys.collect();
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.source.provider.is_none() {
                if let Some(place) = places.get_mut(slot.entry.key()) {
                    place.get_or_insert(at);
                }
            }
        }
        for slot in other.slots.drain(..) {
            // A template that is in no list may be repeated, so the place of a new one counts too.
            let new = self.slots.len();
            let place = places.get_mut(slot.entry.key());
            let place = place.map_or(new, |place| *place.get_or_insert(new));
            match self.slots.get_mut(place) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
    }

    /// Removes the entries that an entry of `other` with the same key replaces. Those of providers stay, and yield.
    #[inline]
    pub(crate) fn remove_replaced(&mut self, other: &Self) {
        let keys: HashSet<&str> = other.keys().collect();
        self.slots
            .retain(|slot| slot.source.provider.is_some() || !keys.contains(slot.entry.key()));
    }

    /// Replaces the entries of the sources of `provider` by those of `other`, in the place of the first one. Those that are
    /// `disabled` stay so. Sources have the order of their providers.
    #[inline]
    pub(crate) fn provide(
        &mut self,
        provider: &Provider,
        other: &mut Self,
        disabled: &DisabledFeatures,
    ) {
        let disabled = disabled.keys(provider, self.kind);
        for slot in &mut other.slots {
            slot.enabled &= !disabled.contains(slot.entry.key());
        }
        let is_old = |slot: &Slot| slot.is_of(provider);
        let is_later = |slot: &Slot| {
            slot.source
                .provider
                .as_ref()
                .is_some_and(|it| it > provider)
        };
        let first = self
            .slots
            .iter()
            .position(|slot| is_old(slot) || is_later(slot));
        self.slots.retain(|slot| !is_old(slot));
        let first = first.unwrap_or(self.slots.len());
        self.slots.splice(first..first, other.slots.drain(..));
    }

    /// Rejects duplicate keys, also of disabled entries. Those of providers yield, so they may have the keys of others.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut keys = HashSet::with_capacity(self.slots.len());
        let own = self
            .slots
            .iter()
            .filter(|slot| slot.source.provider.is_none());
        let mut own = own.map(|slot| slot.entry.key());
        match own.find(|key| !keys.insert(*key)) {
            Some(key) => Err(duplicate(self.kind, key)),
            None => Ok(()),
        }
    }

    /// Changes the entries that `item` selects, and returns their number. Disabled ones of providers are added to `disabled`.
    #[inline]
    pub(crate) fn change(
        &mut self,
        item: &Component,
        change: Change,
        disabled: &mut DisabledFeatures,
    ) -> usize {
        let (kind, mut found) = (self.kind, 0);
        let mut provided: Vec<(Provider, Vec<Arc<Entry>>)> = Vec::new();
        self.slots.retain_mut(|slot| {
            if !slot.is_selected_by(kind, item) {
                return true;
            }
            found += 1;
            match change {
                Change::Remove => return false,
                Change::Disable => {
                    slot.enabled = false;
                    if let Some(provider) = &slot.source.provider {
                        // The entries of a provider follow each other.
                        let last = provided.last_mut().filter(|(last, _)| last == provider);
                        let entry = Arc::clone(&slot.entry);
                        match last {
                            Some((_, entries)) => entries.push(entry),
                            None => provided.push((provider.clone(), vec![entry])),
                        }
                    }
                }
                Change::Enable => slot.enabled = true,
            }
            true
        });
        for (provider, entries) in &provided {
            disabled.add(provider, kind, entries);
        }
        found
    }

    /// Iterates over the enabled entries.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = &Arc<Entry>> {
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
        let mut keys: HashSet<&str> = own.map(|slot| slot.entry.key()).collect();
        let provided = self.slots.iter().enumerate();
        let provided = provided.filter(|(_, slot)| slot.enabled && slot.source.provider.is_some());
        let yielding = provided.filter(|(_, slot)| !keys.insert(slot.entry.key()));
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
    pub(crate) fn ruled(&self) -> impl Iterator<Item = Ruled<'_>> {
        self.slots.iter().map(Slot::ruled)
    }

    /// Returns the entry at `position`.
    pub(crate) fn ruled_at(&self, position: usize) -> Option<Ruled<'_>> {
        self.slots.get(position).map(Slot::ruled)
    }

    /// Iterates over the source of each entry.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.slots.iter().map(|slot| &slot.source)
    }

    /// Iterates over the source of each entry that is enabled.
    pub(crate) fn enabled_sources(&self) -> impl Iterator<Item = &Arc<Source>> {
        let enabled = self.slots.iter().filter(|slot| slot.enabled);
        enabled.map(|slot| &slot.source)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| &*slot.entry.name)
    }

    /// Iterates over the keys of the entries of `provider`.
    pub(crate) fn provided_keys<'a>(
        &'a self,
        provider: &'a Provider,
    ) -> impl Iterator<Item = &'a str> {
        let own = self.slots.iter().filter(|slot| slot.is_of(provider));
        own.map(|slot| slot.entry.key())
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.entry.key())
    }
}

/// Entry with its name and the rules of its source.
pub(crate) struct Ruled<'a> {
    pub(crate) name: &'a str,
    pub(crate) entry: &'a Entry,
    pub(crate) rules: &'a [Rule],
}

impl Slot {
    fn ruled(&self) -> Ruled<'_> {
        Ruled {
            name: &self.entry.name,
            entry: &self.entry,
            rules: &self.source.rules,
        }
    }

    fn is_of(&self, provider: &Provider) -> bool {
        self.source.provider.as_ref() == Some(provider)
    }

    fn is_selected_by(&self, kind: EntryKind, item: &Component) -> bool {
        match &item.which {
            Which::Mounted(mounted, _) => self.source.mounted == Some(*mounted),
            _ => item.selects(kind, &self.entry.name, self.entry.key()),
        }
    }
}

#[cold]
fn duplicate(kind: EntryKind, key: &str) -> String {
    let noun = kind.noun();
    if kind.has_uri() {
        format!("two {noun}s have the URI `{key}`")
    } else {
        format!("two {noun}s have the name `{key}`; give one of them `name = \"…\"` or a namespace")
    }
}
