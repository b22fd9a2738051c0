//! Entry of the registry of a server: a tool, a prompt, a resource or a template, with the handlers of its requests.

use std::fmt;
use std::mem;
use std::sync::Arc;
#[cfg(feature = "http-server")]
use std::sync::OnceLock;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::completion::empty_handler;
use crate::feature_descriptor::FeatureDescriptor;
use crate::handler::Handler;
use crate::json::json_text;
use crate::panic::drop_values;
use crate::registered::Completers;
use crate::resource::pattern::Pattern;
use crate::revision::ResultFormat;
use crate::scope::RequiredScopes;
#[cfg(feature = "http-server")]
use crate::tool::header_params::{HeaderParam, header_params};

/// Entry of the registry. It is one type for all kinds, so that lists and indexes are compiled once.
///
/// Its handlers own values of the user's code: a panic that dropping them causes is logged.
pub(crate) struct Entry {
    /// The name with dots, independent of the separator that peers see.
    pub(crate) name: Arc<str>,
    pub(crate) descriptor: Descriptor,
    pub(crate) handler: Handler,
    pub(crate) completers: Completers,
    /// The scopes that its requests need.
    pub(crate) scopes: RequiredScopes,
    /// The arguments of a tool that clients repeat in HTTP headers. Snapshots share them, as they share the entry.
    #[cfg(feature = "http-server")]
    pub(crate) mirrors: OnceLock<Box<[HeaderParam]>>,
}

impl fmt::Debug for Entry {
    #[inline]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("descriptor", &self.descriptor.describe())
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// Returns the name or the URI that is unique among the entries of its kind.
    pub(crate) fn key(&self) -> &str {
        match &self.descriptor {
            Descriptor::Tool(tool) => &tool.name,
            Descriptor::Prompt(prompt) => &prompt.name,
            Descriptor::Resource(resource, _) => &resource.uri,
            Descriptor::Template(template, _) => &template.uri_template,
        }
    }

    /// Iterates over the namespaces that its name is in, with dots, the outermost first.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.name
            .match_indices('.')
            .map(|(end, _)| &self.name[..end])
    }

    /// Returns the descriptor of a tool.
    pub(crate) fn tool(&self) -> Option<&Tool> {
        match &self.descriptor {
            Descriptor::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns the arguments of a tool that clients repeat in HTTP headers.
    #[cfg(feature = "http-server")]
    pub(crate) fn mirrors(&self) -> &[HeaderParam] {
        self.mirrors.get_or_init(|| {
            // Schemas were checked when the tool was added.
            let mirrors = self.tool().map(|tool| header_params(&tool.input_schema));
            mirrors.and_then(Result::ok).unwrap_or_default().into()
        })
    }

    /// Returns the descriptor of a prompt.
    pub(crate) fn prompt(&self) -> Option<&Prompt> {
        match &self.descriptor {
            Descriptor::Prompt(prompt) => Some(prompt),
            _ => None,
        }
    }

    /// Returns the properties of a template that only the server uses.
    pub(crate) fn template(&self) -> Option<&Template> {
        match &self.descriptor {
            Descriptor::Template(_, template) => Some(template),
            _ => None,
        }
    }

    /// Returns true if clients can subscribe to changes of the resource, or of the resources of the template.
    pub(crate) fn is_subscribable(&self) -> bool {
        match &self.descriptor {
            Descriptor::Resource(_, fixed) => fixed.subscribe,
            Descriptor::Template(_, template) => template.subscribe,
            Descriptor::Tool(_) | Descriptor::Prompt(_) => false,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        drop_values(mem::replace(&mut self.handler, empty_handler()));
        self.completers.drop_each();
    }
}

/// Descriptor that peers receive, and the properties that only the server uses.
pub(crate) enum Descriptor {
    Tool(Tool),
    Prompt(Prompt),
    Resource(Resource, Fixed),
    Template(ResourceTemplate, Template),
}

/// Properties of a resource that only the server uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    /// `true` if clients can subscribe to its changes.
    pub(crate) subscribe: bool,
}

/// Properties of a template that only the server uses.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) pattern: Pattern,
    /// `true` if clients can subscribe to changes of its resources.
    pub(crate) subscribe: bool,
    /// `false` if it is in no list. Such a template is tried after all others.
    pub(crate) listed: bool,
}

impl Descriptor {
    /// Returns the part that the rules of the server see.
    pub(crate) fn describe(&self) -> FeatureDescriptor<'_> {
        match self {
            Self::Tool(tool) => FeatureDescriptor::Tool(tool),
            Self::Prompt(prompt) => FeatureDescriptor::Prompt(prompt),
            Self::Resource(resource, _) => FeatureDescriptor::Resource(resource),
            Self::Template(template, _) => FeatureDescriptor::ResourceTemplate(template),
        }
    }

    /// Returns the JSON for peers of a revision.
    pub(crate) fn json(&self, style: &ResultFormat) -> String {
        match self {
            Self::Tool(tool) => json_text(&style.tool(tool)),
            Self::Prompt(prompt) => json_text(prompt),
            Self::Resource(resource, _) => json_text(resource),
            Self::Template(template, _) => json_text(template),
        }
    }
}

/// Kind of the entries of a list.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum EntryKind {
    Tool,
    Prompt,
    Resource,
    Template,
}

impl EntryKind {
    /// Returns the noun, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "template",
        }
    }

    /// Returns the member of the list result.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
        }
    }

    /// Returns true if its entries are identified by a URI or a URI template, and not by their name.
    pub(crate) fn has_uri(self) -> bool {
        matches!(self, Self::Resource | Self::Template)
    }
}
