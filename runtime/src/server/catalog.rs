//! All that a server has, whether it is offered now or not: what builders and edits change.

use std::sync::Arc;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::naming::nearest;
use crate::resource::{Fixed, RegisteredResource, Template};
use crate::server::edit::{Component, Which};
use crate::server::namespace::{Group, Parts};
use crate::server::setup::Setup;
use crate::server::shelf::{Change, Origin, Shelf};

/// All that a server has. A clone of it shares everything but the order and what is disabled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Shelf<Tool>,
    pub(crate) prompts: Shelf<Prompt>,
    pub(crate) resources: Shelf<Resource, Fixed>,
    pub(crate) templates: Shelf<ResourceTemplate, Template>,
    origins: Vec<Arc<Origin>>,
}

impl Catalog {
    /// All of `parts`, as the server names them and with what it puts around them.
    pub(crate) fn new(parts: Parts, setup: &Setup) -> Result<Self, String> {
        let mut catalog = Self::default();
        for group in parts.groups {
            catalog.add_group(group, setup)?;
        }
        catalog.check()?;
        Ok(catalog)
    }

    /// Adds all that `other` has.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), String> {
        self.tools.merge(other.tools);
        self.prompts.merge(other.prompts);
        self.resources.merge(other.resources);
        self.templates.merge(other.templates);
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

    fn add_group(&mut self, group: Group, setup: &Setup) -> Result<(), String> {
        let separator = setup.separator.as_deref();
        let bare = group.tools.is_empty() && group.prompts.is_empty() && group.resources.is_empty();
        let origin = Arc::new(Origin {
            mounted: group.mounted,
            instructions: group.instructions,
            bare,
        });
        for tool in group.tools {
            self.tools
                .add(setup.around.wrap(tool), &origin, separator)?;
        }
        for prompt in group.prompts {
            self.prompts.add(prompt, &origin, separator)?;
        }
        for resource in group.resources {
            match resource {
                RegisteredResource::Fixed(one) => self.resources.add(one, &origin, separator)?,
                RegisteredResource::Template(family) => {
                    self.templates.add(family, &origin, separator)?;
                }
            }
        }
        self.origins.push(origin);
        Ok(())
    }

    /// Changes all that `item` stands for; an error if it stands for nothing.
    pub(crate) fn change(&mut self, item: &Component, change: Change) -> Result<(), String> {
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
