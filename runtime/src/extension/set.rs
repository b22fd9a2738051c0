//! Extensions of a server: their handlers, by method.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;
use treenail_schema::Revision;

use super::topic::Member;
use super::{Extension, ExtensionFacts, ExtensionMethod, OnBuild, validate_identifier};

/// Handlers of the extensions of a server.
#[derive(Default)]
pub(crate) struct ExtensionSet {
    /// The methods of each name, with the identifiers of their extensions. They exist in different revisions.
    methods: HashMap<Box<str>, Vec<(Box<str>, ExtensionMethod)>>,
    members: Vec<Member>,
}

impl fmt::Debug for ExtensionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExtensionSet")
            .field("methods", &self.methods.keys())
            .finish_non_exhaustive()
    }
}

impl ExtensionSet {
    /// Returns the members of the filter of `subscriptions/listen`.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns a method, and the identifier of its extension.
    pub(crate) fn find(&self, name: &str, revision: Revision) -> Option<(&str, &ExtensionMethod)> {
        let named = self.methods.get(name)?;
        let found = named.iter().find(|(_, method)| method.exists_in(revision));
        found.map(|(id, method)| (&**id, method))
    }

    /// Returns `true` if the extension `id` has a method that only clients with the extension can call.
    #[cfg(feature = "http-server")]
    pub(crate) fn has_gated_methods(&self, id: &str) -> bool {
        let mut all = self.methods.values().flatten();
        all.any(|(extension, method)| **extension == *id && method.is_gated())
    }
}

/// Checks the extensions of a server, and divides them into facts, handlers, and functions that run after building.
pub(crate) fn build(
    extensions: Vec<Extension>,
) -> Result<(ExtensionFacts, ExtensionSet, Vec<OnBuild>), String> {
    let mut parts = (ExtensionFacts::default(), ExtensionSet::default());
    let mut on_build = Vec::new();
    for extension in extensions {
        let (facts, set) = (&mut parts.0, &mut parts.1);
        let id = extension.id;
        validate_identifier(&id)
            .map_err(|problem| format!("the extension identifier `{id}` {problem}"))?;
        let Value::Object(settings) = extension.settings else {
            return Err(format!(
                "the settings of the extension `{id}` are not a JSON object"
            ));
        };
        let settings = Value::Object(settings);
        if facts.settings.insert(id.to_string(), settings).is_some() {
            return Err(format!("the extension `{id}` is added twice"));
        }
        for method in extension.methods {
            method.check(&id)?;
            set.add(&id, method, facts)?;
        }
        facts.core.extend(extension.core_capabilities);
        set.members.extend(extension.members);
        facts.changes_resources |= extension.changes_resources;
        on_build.extend(extension.on_build);
        for set_state in extension.states {
            set_state(&mut facts.states);
        }
    }
    Ok((parts.0, parts.1, on_build))
}

impl ExtensionSet {
    fn add(
        &mut self,
        id: &str,
        method: ExtensionMethod,
        facts: &mut ExtensionFacts,
    ) -> Result<(), String> {
        let named = self.methods.entry(method.name.clone()).or_default();
        let both = |other: &ExtensionMethod| {
            let mut all = Revision::ALL.into_iter();
            all.any(|revision| method.exists_in(revision) && other.exists_in(revision))
        };
        if let Some((other, _)) = named.iter().find(|(_, other)| both(other)) {
            let name = &method.name;
            return Err(if **other == *id {
                format!("the extension `{id}` has the method `{name}` twice")
            } else {
                format!("the extensions `{other}` and `{id}` both have the method `{name}`")
            });
        }
        let header = facts.methods.entry(method.name.clone()).or_default();
        if method.name_header.is_some() {
            header.clone_from(&method.name_header);
        }
        named.push((id.into(), method));
        Ok(())
    }
}
