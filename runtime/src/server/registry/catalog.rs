//! All entries of a server, including disabled ones, as builders and edits change them.

use std::sync::Arc;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::naming::nearest;
use crate::resource::{Fixed, RegisteredResource, Template};
use crate::server::edit::{Change, Component, Which};
use crate::server::namespace::{Group, Parts};
use crate::server::registry::entries::{EntryList, Source};
use crate::wrap::CallStack;

/// All entries of a server. A clone shares the entries, but not their order and state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: EntryList<Tool>,
    pub(crate) prompts: EntryList<Prompt>,
    pub(crate) resources: EntryList<Resource, Fixed>,
    pub(crate) templates: EntryList<ResourceTemplate, Template>,
    /// Templates that are in no list.
    pub(crate) unlisted: EntryList<ResourceTemplate, Template>,
    sources: Vec<Arc<Source>>,
}

impl Catalog {
    /// Collects the entries of `parts`, with their final names, wrapped in `stack`.
    pub(crate) fn new(
        parts: Parts,
        separator: Option<&str>,
        stack: &CallStack,
    ) -> Result<Self, String> {
        let mut catalog = Self::default();
        for group in parts.groups {
            catalog.add_group(group, separator, stack)?;
        }
        catalog.check()?;
        Ok(catalog)
    }

    /// Adds all entries of `other`.
    #[inline]
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), String> {
        self.tools.merge(other.tools);
        self.prompts.merge(other.prompts);
        self.resources.merge(other.resources);
        self.templates.merge(other.templates);
        self.unlisted.merge(other.unlisted);
        self.sources.extend(other.sources);
        self.check()
    }

    /// Adds all entries of `other`, in the places of the entries that have the same keys.
    #[inline]
    pub(crate) fn replace(&mut self, other: Self) -> Result<(), String> {
        self.tools.replace(other.tools);
        self.prompts.replace(other.prompts);
        self.resources.replace(other.resources);
        self.templates.replace(other.templates);
        self.unlisted.replace(other.unlisted);
        self.sources.extend(other.sources);
        self.drop_unused_sources();
        self.check()
    }

    /// Replaces all entries of the sources with the id `provider` by those of `other`, in their place.
    #[inline]
    pub(crate) fn provide(&mut self, provider: u64, other: Self) -> Result<(), String> {
        self.tools.provide(provider, other.tools);
        self.prompts.provide(provider, other.prompts);
        self.resources.provide(provider, other.resources);
        self.templates.provide(provider, other.templates);
        self.unlisted.provide(provider, other.unlisted);
        let is_old = |source: &Arc<Source>| source.provider == Some(provider);
        let is_later = |source: &Arc<Source>| source.provider.is_some_and(|it| it > provider);
        let first = self
            .sources
            .iter()
            .position(|one| is_old(one) || is_later(one));
        self.sources.retain(|source| !is_old(source));
        let first = first.unwrap_or(self.sources.len());
        self.sources.splice(first..first, other.sources);
        self.check()
    }

    /// Rejects duplicate keys.
    fn check(&self) -> Result<(), String> {
        self.tools.check()?;
        self.prompts.check()?;
        self.resources.check()?;
        self.templates.check()
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
            rules: group.rules,
            bare,
        });
        for tool in group.tools {
            self.tools.add(stack.wrap(tool), &source, separator)?;
        }
        for prompt in group.prompts {
            self.prompts.add(prompt, &source, separator)?;
        }
        for resource in group.resources {
            match resource {
                RegisteredResource::Fixed(one) => self.resources.add(one, &source, separator)?,
                RegisteredResource::Template(family) if family.detail.listed => {
                    self.templates.add(family, &source, separator)?;
                }
                RegisteredResource::Template(family) => {
                    self.unlisted.add(family, &source, separator)?;
                }
            }
        }
        self.sources.push(source);
        Ok(())
    }

    /// Changes all entries that `item` selects. It is an error if it selects none.
    #[inline]
    pub(crate) fn change(&mut self, item: &Component, change: Change) -> Result<(), String> {
        let found = self.tools.change(item, change)
            + self.prompts.change(item, change)
            + self.resources.change(item, change)
            + self.templates.change(item, change)
            + self.unlisted.change(item, change);
        if found == 0 {
            return Err(self.unknown(item));
        }
        self.drop_unused_sources();
        Ok(())
    }

    /// Removes the sources whose entries have all been removed.
    #[inline]
    fn drop_unused_sources(&mut self) {
        let Self {
            tools,
            prompts,
            resources,
            templates,
            unlisted,
            sources,
        } = self;
        sources.retain(|source| {
            source.bare
                || tools.has_entry_of(source)
                || prompts.has_entry_of(source)
                || resources.has_entry_of(source)
                || templates.has_entry_of(source)
                || unlisted.has_entry_of(source)
        });
    }

    /// Returns true if a mounted type or a set of functions has rules.
    pub(crate) fn has_rules(&self) -> bool {
        self.sources.iter().any(|source| !source.rules.is_empty())
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
        self.tools.retain(&mut keep);
        self.prompts.retain(&mut keep);
        self.resources.retain(&mut keep);
        self.templates.retain(&mut keep);
        self.unlisted.retain(&mut keep);
    }

    /// Returns the distinct instructions of mounted types that have an enabled entry.
    pub(crate) fn instructions(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = Vec::new();
        for source in &self.sources {
            let text = &*source.instructions;
            let is_enabled = || {
                self.tools.has_enabled_entry_of(source)
                    || self.prompts.has_enabled_entry_of(source)
                    || self.resources.has_enabled_entry_of(source)
                    || self.templates.has_enabled_entry_of(source)
            };
            if !text.is_empty() && !texts.contains(&text) && (source.bare || is_enabled()) {
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
