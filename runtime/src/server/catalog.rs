//! All that a server has, whether it is offered now or not: what builders and edits change.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::Arc;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::definition::{Bound, Entry};
use crate::name::nearest;
use crate::resource::{BoundResource, Family, Single};
use crate::server::edit::{Item, Which};
use crate::server::namespace::{Group, Parts};
use crate::server::table::{Descriptor, separate};

/// All that a server has. A clone of it shares everything but the order and what is disabled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Shelf<Tool>,
    pub(crate) prompts: Shelf<Prompt>,
    pub(crate) resources: Shelf<Resource, Single>,
    pub(crate) templates: Shelf<ResourceTemplate, Family>,
    origins: Vec<Arc<Origin>>,
}

/// What was added in one go.
#[derive(Debug)]
pub(crate) struct Origin {
    mounted: Option<TypeId>,
    instructions: &'static str,
    /// It has nothing but its instructions.
    bare: bool,
}

/// What becomes of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Remove,
    Disable,
    Enable,
}

impl Catalog {
    /// All of `parts`, under names in which `separator` stands for the dots.
    pub(crate) fn new(parts: Parts, separator: Option<&str>) -> Result<Self, String> {
        let mut catalog = Self::default();
        for group in parts.groups {
            catalog.add_group(group, separator)?;
        }
        catalog.check()?;
        Ok(catalog)
    }

    /// Adds all that `other` has.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), String> {
        self.tools.slots.extend(other.tools.slots);
        self.prompts.slots.extend(other.prompts.slots);
        self.resources.slots.extend(other.resources.slots);
        self.templates.slots.extend(other.templates.slots);
        self.origins.extend(other.origins);
        self.check()
    }

    /// Refuses two of one key.
    fn check(&self) -> Result<(), String> {
        self.tools.check()?;
        self.prompts.check()?;
        self.resources.check()?;
        self.templates.check()
    }

    fn add_group(&mut self, group: Group, separator: Option<&str>) -> Result<(), String> {
        let bare = group.tools.is_empty() && group.prompts.is_empty() && group.resources.is_empty();
        let origin = Arc::new(Origin {
            mounted: group.mounted,
            instructions: group.instructions,
            bare,
        });
        for tool in group.tools {
            self.tools.add(tool, &origin, separator)?;
        }
        for prompt in group.prompts {
            self.prompts.add(prompt, &origin, separator)?;
        }
        for resource in group.resources {
            match resource {
                BoundResource::One(one) => self.resources.add(one, &origin, separator)?,
                BoundResource::Family(family) => {
                    self.templates.add(family, &origin, separator)?;
                }
            }
        }
        self.origins.push(origin);
        Ok(())
    }

    /// Changes all that `item` stands for; an error if it stands for nothing.
    pub(crate) fn change(&mut self, item: &Item, change: Change) -> Result<(), String> {
        let found = self.tools.change(item, change)
            + self.prompts.change(item, change)
            + self.resources.change(item, change)
            + self.templates.change(item, change);
        if found == 0 {
            return Err(self.unknown(item));
        }
        let Self {
            tools,
            prompts,
            resources,
            templates,
            origins,
        } = self;
        origins.retain(|origin| {
            origin.bare
                || tools.has(origin)
                || prompts.has(origin)
                || resources.has(origin)
                || templates.has(origin)
        });
        Ok(())
    }

    /// What mounted types say of themselves, as far as something of them is offered; no text twice.
    pub(crate) fn instructions(&self) -> Vec<&'static str> {
        let mut texts: Vec<&'static str> = Vec::new();
        for origin in &self.origins {
            let text = origin.instructions;
            let offered = || {
                self.tools.offers(origin)
                    || self.prompts.offers(origin)
                    || self.resources.offers(origin)
                    || self.templates.offers(origin)
            };
            if !text.is_empty() && !texts.contains(&text) && (origin.bare || offered()) {
                texts.push(text);
            }
        }
        texts
    }

    fn unknown(&self, item: &Item) -> String {
        let near = match &item.which {
            Which::Tool(name) => nearest(name, self.tools.names()),
            Which::Prompt(name) => nearest(name, self.prompts.names()),
            Which::Resource(uri) => {
                nearest(uri, self.resources.keys().chain(self.templates.keys()))
            }
            Which::Namespace(_) | Which::Mounted(..) => None,
        };
        match near {
            Some(near) => format!("there is no {item}; did you mean `{near}`?"),
            None => format!("there is no {item}"),
        }
    }
}

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
    fn add(
        &mut self,
        mut bound: Bound<D, X>,
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

    /// Refuses two of one key, offered or not.
    fn check(&self) -> Result<(), String> {
        let mut keys = HashSet::with_capacity(self.slots.len());
        match self.keys().find(|key| !keys.insert(*key)) {
            Some(key) => Err(twice::<D>(key)),
            None => Ok(()),
        }
    }

    /// Changes those that `item` stands for, and says how many there are.
    fn change(&mut self, item: &Item, change: Change) -> usize {
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

    fn has(&self, origin: &Arc<Origin>) -> bool {
        self.slots
            .iter()
            .any(|slot| Arc::ptr_eq(&slot.origin, origin))
    }

    fn offers(&self, origin: &Arc<Origin>) -> bool {
        self.slots
            .iter()
            .any(|slot| slot.enabled && Arc::ptr_eq(&slot.origin, origin))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| &*slot.name)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.entry.descriptor.key())
    }
}

impl<D: Descriptor, X> Slot<D, X> {
    fn is(&self, item: &Item) -> bool {
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

#[cold]
fn twice<D: Descriptor>(key: &str) -> String {
    let (kind, what) = (D::KIND, D::KEY);
    let advice = match what {
        "name" => "; give one of them `name = \"…\"` or a namespace",
        _ => "",
    };
    format!("two {kind}s have the {what} `{key}`{advice}")
}
