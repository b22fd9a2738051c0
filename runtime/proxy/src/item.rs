//! Features of a server behind a proxy, as filters see them.

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

/// A feature of a server behind a proxy, as the server lists it: with its own name and URI.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A tool.
    Tool(&'a Tool),
    /// A prompt.
    Prompt(&'a Prompt),
    /// A resource.
    Resource(&'a Resource),
    /// A resource template.
    Template(&'a ResourceTemplate),
}

impl<'a> Item<'a> {
    /// Returns the name at the server, without the namespace of the proxy.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Prompt(prompt) => &prompt.name,
            Self::Resource(resource) => &resource.name,
            Self::Template(template) => &template.name,
        }
    }

    /// Returns the kind: `tool`, `prompt`, `resource` or `template`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompt(_) => "prompt",
            Self::Resource(_) => "resource",
            Self::Template(_) => "template",
        }
    }

    /// Returns the URI of a resource or the text of a template.
    pub fn uri(&self) -> Option<&'a str> {
        match self {
            Self::Resource(resource) => Some(&resource.uri),
            Self::Template(template) => Some(&template.uri_template),
            Self::Tool(_) | Self::Prompt(_) => None,
        }
    }
}
