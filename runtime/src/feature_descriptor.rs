//! Descriptors of features, as lists contain them.

use treenail_schema::{MetaObject, Prompt, Resource, ResourceTemplate, Tool};

/// Descriptor of a tool, prompt, resource or resource template, as peers receive it in a list.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FeatureDescriptor<'a> {
    /// A tool.
    Tool(&'a Tool),
    /// A prompt.
    Prompt(&'a Prompt),
    /// A resource with a URI of its own.
    Resource(&'a Resource),
    /// A template of resources.
    ResourceTemplate(&'a ResourceTemplate),
}

impl<'a> FeatureDescriptor<'a> {
    /// Returns the name in the list.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Prompt(prompt) => &prompt.name,
            Self::Resource(resource) => &resource.name,
            Self::ResourceTemplate(template) => &template.name,
        }
    }

    /// Returns the URI of a resource, or the text of a template.
    pub fn uri(&self) -> Option<&'a str> {
        match self {
            Self::Resource(resource) => Some(&resource.uri),
            Self::ResourceTemplate(template) => Some(&template.uri_template),
            Self::Tool(_) | Self::Prompt(_) => None,
        }
    }

    /// Returns the descriptor of a tool, with its annotations.
    pub fn tool(&self) -> Option<&'a Tool> {
        match self {
            Self::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns its `_meta` object.
    pub fn meta(&self) -> Option<&'a MetaObject> {
        match self {
            Self::Tool(tool) => tool.meta.as_ref(),
            Self::Prompt(prompt) => prompt.meta.as_ref(),
            Self::Resource(resource) => resource.meta.as_ref(),
            Self::ResourceTemplate(template) => template.meta.as_ref(),
        }
    }
}
