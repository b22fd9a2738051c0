//! Facts about the extensions of a server, without their handlers.

use std::collections::HashMap;

use serde_json::{Map, Value};
use treenail_schema::Revision;

use crate::extensions::Extensions;

/// Declarations of a server's extensions, and the names of their methods.
#[derive(Debug, Default)]
pub(crate) struct ExtensionFacts {
    /// The settings of each extension, by its identifier.
    pub(super) settings: Map<String, Value>,
    /// Capabilities of the protocol itself, each of one revision.
    pub(super) core: Vec<(Revision, Box<str>, Value)>,
    /// The methods, each with the member that `Mcp-Name` repeats.
    pub(super) methods: HashMap<Box<str>, Option<Box<str>>>,
    /// Set if an extension changes the resources of the server.
    pub(super) changes_resources: bool,
    /// Values of extensions, by their type.
    pub(crate) states: Extensions,
}

impl ExtensionFacts {
    /// Adds the capabilities of a server in `revision`.
    pub(crate) fn declare(&self, revision: Revision, capabilities: &mut Map<String, Value>) {
        if !self.settings.is_empty() {
            capabilities.insert("extensions".to_owned(), self.settings.clone().into());
        }
        for (since, name, value) in &self.core {
            if *since == revision {
                capabilities.insert(name.as_ref().to_owned(), value.clone());
            }
        }
    }

    /// Returns `true` if an extension declares the capability `name` of the protocol itself in `revision`.
    pub(crate) fn declares(&self, revision: Revision, name: &str) -> bool {
        let mut core = self.core.iter();
        core.any(|(since, declared, _)| *since == revision && **declared == *name)
    }

    /// Returns `true` if an extension changes the resources of the server.
    pub(crate) fn changes_resources(&self) -> bool {
        self.changes_resources
    }

    /// Returns `true` if some extension has methods.
    pub(crate) fn has_methods(&self) -> bool {
        !self.methods.is_empty()
    }

    /// Returns the name of a method that exists in some revision.
    pub(crate) fn method(&self, name: &str) -> Option<&str> {
        if self.methods.is_empty() {
            return None;
        }
        Some(self.methods.get_key_value(name)?.0)
    }

    /// Returns `true` if the server has the extension `id`.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.settings.contains_key(id)
    }

    /// Returns the member of the parameters that the header `Mcp-Name` repeats.
    #[cfg(feature = "http-server")]
    pub(crate) fn name_header(&self, method: &str) -> Option<&str> {
        self.methods.get(method)?.as_deref()
    }
}
