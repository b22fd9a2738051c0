//! All of one kind that a server has, whether it is offered now or not.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::Arc;

use crate::definition::{Entry, Registered};
use crate::server::edit::{Component, Which};
use crate::server::table::{Descriptor, separate};

/// Those of one kind.
#[derive(Debug)]
pub(crate) struct Shelf<D, X = ()> {
    slots: Vec<Slot<D, X>>,
}

#[derive(Debug)]
struct Slot<D, X> {
    /// The name with dots in it, whatever peers see.
    name: Arc<str>,
    entry: Arc<Entry<D, X>>,
    origin: Arc<Origin>,
    enabled: bool,
}

impl<D, X> Default for Shelf<D, X> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<D, X> Clone for Shelf<D, X> {
    fn clone(&self) -> Self {
        let slot = |slot: &Slot<D, X>| Slot {
            name: Arc::clone(&slot.name),
            entry: Arc::clone(&slot.entry),
            origin: Arc::clone(&slot.origin),
            enabled: slot.enabled,
        };
        Self {
            slots: self.slots.iter().map(slot).collect(),
        }
    }
}

impl<D: Descriptor, X> Shelf<D, X> {
    pub(crate) fn add(
        &mut self,
        mut bound: Registered<D, X>,
        origin: &Arc<Origin>,
        separator: Option<&str>,
    ) -> Result<(), String> {
        let name = bound.descriptor.name_mut();
        let full_name = name.as_str().into();
        if let Some(separator) = separator {
            separate(D::KIND, name, separator)?;
        }
        self.slots.push(Slot {
            name: full_name,
            entry: Arc::new(bound.finish()),
            origin: Arc::clone(origin),
            enabled: true,
        });
        Ok(())
    }

    /// Adds all that `other` has.
    pub(crate) fn merge(&mut self, other: Self) {
        self.slots.extend(other.slots);
    }

    /// Refuses two of one key, offered or not.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut keys = HashSet::with_capacity(self.slots.len());
        match self.keys().find(|key| !keys.insert(*key)) {
            Some(key) => Err(twice::<D>(key)),
            None => Ok(()),
        }
    }

    /// Changes those that `item` stands for, and says how many there are.
    pub(crate) fn change(&mut self, item: &Component, change: Change) -> usize {
        let mut found = 0;
        self.slots.retain_mut(|slot| {
            if !slot.is(item) {
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

    /// Those that are offered.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &Arc<Entry<D, X>>> {
        let offered = self.slots.iter().filter(|slot| slot.enabled);
        offered.map(|slot| &slot.entry)
    }

    pub(crate) fn has(&self, origin: &Arc<Origin>) -> bool {
        self.slots
            .iter()
            .any(|slot| Arc::ptr_eq(&slot.origin, origin))
    }

    pub(crate) fn offers(&self, origin: &Arc<Origin>) -> bool {
        self.slots
            .iter()
            .any(|slot| slot.enabled && Arc::ptr_eq(&slot.origin, origin))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| &*slot.name)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.entry.descriptor.key())
    }
}

impl<D: Descriptor, X> Slot<D, X> {
    fn is(&self, item: &Component) -> bool {
        match &item.which {
            Which::Tool(name) => D::KIND == "tool" && *self.name == **name,
            Which::Prompt(name) => D::KIND == "prompt" && *self.name == **name,
            Which::Resource(uri) => D::KEY == "URI" && self.entry.descriptor.key() == uri,
            Which::Namespace(namespace) => self
                .name
                .strip_prefix(&**namespace)
                .is_some_and(|rest| rest.starts_with('.')),
            Which::Mounted(mounted, _) => self.origin.mounted == Some(*mounted),
        }
    }
}

/// What was added in one go.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) mounted: Option<TypeId>,
    pub(crate) instructions: &'static str,
    /// It has nothing but its instructions.
    pub(crate) bare: bool,
}

/// What becomes of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Remove,
    Disable,
    Enable,
}

#[cold]
fn twice<D: Descriptor>(key: &str) -> String {
    let (kind, what) = (D::KIND, D::KEY);
    let advice = match what {
        "name" => "; give one of them `name = \"…\"` or a namespace",
        _ => "",
    };
    format!("two {kind}s have the {what} `{key}`{advice}")
}
