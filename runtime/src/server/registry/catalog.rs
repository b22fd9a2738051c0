//! All entries of a server, including disabled ones, as builders and edits change them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::entry::{Descriptor, EntryKind};
use crate::naming::nearest;
use crate::resource::RegisteredResource;
use crate::server::absence::Absence;
use crate::server::edit::{Change, Component, Which};
use crate::server::namespace::{Group, Parts};
use crate::server::provider::Provider;
use crate::server::registry::disabled::DisabledFeatures;
use crate::server::registry::entries::EntryList;
use crate::server::registry::source::Source;
use crate::wrap::CallStack;

/// All entries of a server. A clone shares the entries, but not their order and state.
#[derive(Clone, Debug)]
pub(crate) struct Catalog {
    pub(crate) tools: EntryList,
    pub(crate) prompts: EntryList,
    pub(crate) resources: EntryList,
    pub(crate) templates: EntryList,
    /// Templates that are in no list.
    pub(crate) unlisted: EntryList,
    sources: Vec<Arc<Source>>,
    /// Disabled features of sources, also those that their source does not have at present.
    disabled: DisabledFeatures,
}

impl Catalog {
    /// Collects the entries of `parts`, with their final names, wrapped in `stack`.
    pub(crate) fn new(
        parts: Parts,
        separator: Option<&str>,
        stack: &CallStack,
    ) -> Result<Self, String> {
        let mut catalog = Self {
            tools: EntryList::new(EntryKind::Tool),
            prompts: EntryList::new(EntryKind::Prompt),
            resources: EntryList::new(EntryKind::Resource),
            templates: EntryList::new(EntryKind::Template),
            unlisted: EntryList::new(EntryKind::Template),
            sources: Vec::new(),
            disabled: DisabledFeatures::default(),
        };
        for group in parts.groups {
            catalog.add_group(group, separator, stack)?;
        }
        catalog.check()?;
        Ok(catalog)
    }

    /// Returns all lists.
    pub(crate) fn lists(&self) -> [&EntryList; 5] {
        [
            &self.tools,
            &self.prompts,
            &self.resources,
            &self.templates,
            &self.unlisted,
        ]
    }

    fn lists_mut(&mut self) -> [&mut EntryList; 5] {
        [
            &mut self.tools,
            &mut self.prompts,
            &mut self.resources,
            &mut self.templates,
            &mut self.unlisted,
        ]
    }

    /// Completes the steps of an edit: removes the sources whose entries have all been removed, and rejects duplicate keys.
    #[inline]
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        let used = self.lists().into_iter().flat_map(EntryList::sources);
        let used: HashSet<_> = used.map(Arc::as_ptr).collect();
        self.sources
            .retain(|source| source.bare || used.contains(&Arc::as_ptr(source)));
        self.check()
    }

    /// Adds all entries of `other`.
    #[inline]
    pub(crate) fn merge(&mut self, mut other: Self) {
        for (list, more) in self.lists_mut().into_iter().zip(other.lists_mut()) {
            list.merge(more);
        }
        self.sources.extend(other.sources);
    }

    /// Adds all entries of `other`, in the places of the entries that have the same keys. A template that is in no list replaces a
    /// listed one, and the reverse, without its place.
    #[inline]
    pub(crate) fn replace(&mut self, mut other: Self) {
        self.templates.remove_replaced(&other.unlisted);
        self.unlisted.remove_replaced(&other.templates);
        for (list, more) in self.lists_mut().into_iter().zip(other.lists_mut()) {
            list.replace(more);
        }
        self.sources.extend(other.sources);
    }

    /// Replaces all entries of the sources of `provider` by those of `other`, in their place.
    #[inline]
    pub(crate) fn provide(&mut self, provider: &Provider, mut other: Self) {
        let mut disabled = std::mem::take(&mut self.disabled);
        for (list, more) in self.lists_mut().into_iter().zip(other.lists_mut()) {
            list.provide(provider, more, &disabled);
        }
        disabled.trim(provider, self.lists());
        self.disabled = disabled;
        let is_old = |source: &Arc<Source>| source.provider.as_ref() == Some(provider);
        let is_later =
            |source: &Arc<Source>| source.provider.as_ref().is_some_and(|it| it > provider);
        let first = self
            .sources
            .iter()
            .position(|one| is_old(one) || is_later(one));
        self.sources.retain(|source| !is_old(source));
        let first = first.unwrap_or(self.sources.len());
        self.sources.splice(first..first, other.sources);
    }

    /// Rejects duplicate keys, except those of templates that are in no list.
    fn check(&self) -> Result<(), String> {
        let [listed @ .., _] = self.lists();
        listed.into_iter().try_for_each(EntryList::check)
    }

    fn add_group(
        &mut self,
        group: Group,
        separator: Option<&str>,
        stack: &CallStack,
    ) -> Result<(), String> {
        let bare = group.tools.is_empty() && group.prompts.is_empty() && group.resources.is_empty();
        let source = Arc::new(Source {
            mounted: group.mounted,
            instructions: group.instructions,
            scopes: group.scopes,
            provider: group.provider,
            absence: group.absence,
            rules: group.rules,
            bare,
        });
        for tool in group.tools {
            let tool = stack.wrap(tool);
            self.tools.add(tool, Descriptor::Tool, &source, separator)?;
        }
        for prompt in group.prompts {
            self.prompts
                .add(prompt, Descriptor::Prompt, &source, separator)?;
        }
        for resource in group.resources {
            match resource {
                RegisteredResource::Fixed(one, detail) => {
                    let describe = |one| Descriptor::Resource(one, detail);
                    self.resources.add(one, describe, &source, separator)?;
                }
                RegisteredResource::Template(family, detail) => {
                    let list = if detail.listed {
                        &mut self.templates
                    } else {
                        &mut self.unlisted
                    };
                    let describe = |family| Descriptor::Template(family, detail);
                    list.add(family, describe, &source, separator)?;
                }
            }
        }
        self.sources.push(source);
        Ok(())
    }

    /// Changes all entries that `item` selects. It is an error if it selects none.
    #[inline]
    pub(crate) fn change(&mut self, item: &Component, change: Change) -> Result<(), String> {
        let mut disabled = std::mem::take(&mut self.disabled);
        let lists = self.lists_mut().into_iter();
        let changed = lists.map(|list| list.change(item, change, &mut disabled));
        let mut found: usize = changed.sum();
        if let Change::Enable = change {
            found += disabled.enable(item);
        }
        self.disabled = disabled;
        if found == 0 {
            return Err(self.unknown(item));
        }
        Ok(())
    }

    /// Returns true if a mounted type or a set of functions has rules.
    pub(crate) fn has_rules(&self) -> bool {
        self.sources.iter().any(|source| !source.rules.is_empty())
    }

    /// Returns the reasons why features of sources are missing.
    pub(crate) fn absences(&self) -> Vec<Absence> {
        let absences = self.sources.iter().map(|source| source.absence.clone());
        absences.flatten().collect()
    }

    /// Returns a catalog of the enabled entries.
    pub(crate) fn enabled(&self) -> Self {
        let mut catalog = self.clone();
        catalog.retain(|enabled| enabled);
        catalog
    }

    /// Returns a catalog of the entries whose element in `visible` is true, given all of tools, prompts,
    /// resources, templates and unlisted templates.
    pub(crate) fn filtered(&self, visible: impl IntoIterator<Item = bool>) -> Self {
        let mut catalog = self.clone();
        let mut visible = visible.into_iter();
        catalog.retain(|_| visible.next() == Some(true));
        catalog
    }

    fn retain(&mut self, mut keep: impl FnMut(bool) -> bool) {
        for list in self.lists_mut() {
            list.retain(&mut keep);
        }
    }

    /// Returns the distinct instructions of mounted types that have an enabled entry.
    pub(crate) fn instructions(&self) -> Vec<&str> {
        let [listed @ .., _] = self.lists();
        let enabled = listed.into_iter().flat_map(EntryList::enabled_sources);
        let enabled: HashSet<_> = enabled.map(Arc::as_ptr).collect();
        let mut texts: Vec<&str> = Vec::new();
        for source in &self.sources {
            let text = &*source.instructions;
            let is_enabled = source.bare || enabled.contains(&Arc::as_ptr(source));
            if !text.is_empty() && is_enabled && !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    #[inline]
    fn unknown(&self, item: &Component) -> String {
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
