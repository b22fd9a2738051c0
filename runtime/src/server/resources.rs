//! Which resource a URI means: one of its own, or one of a family that a template stands for.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::{Resource, ResourceTemplate, Revision};

use crate::definition::{Completers, Entry};
use crate::naming::nearest;
use crate::resource::pattern::Variables;
use crate::resource::{Fixed, Template};
use crate::respond::Handler;
use crate::revision::resource_not_found;
use crate::server::list::Section;
use crate::wire::{RpcError, quoted};

/// The resources of a server, and the templates with what takes their URIs apart.
#[derive(Debug)]
pub(crate) struct Resources {
    pub(crate) single: Arc<Section<Resource, Fixed>>,
    pub(crate) families: Arc<Section<ResourceTemplate, Template>>,
}

impl Resources {
    pub(crate) fn is_empty(&self) -> bool {
        self.single.table.is_empty() && self.families.table.is_empty()
    }

    /// Whether there is one whose changes are told.
    pub(crate) fn can_be_subscribed(&self) -> bool {
        let single = self.single.table.entries().iter();
        let families = self.families.table.entries().iter();
        single
            .map(|one| one.detail.subscribe)
            .chain(families.map(|family| family.detail.subscribe))
            .any(|subscribe| subscribe)
    }

    /// What reads the resource at `uri`, and the text of the object with the variables of its template.
    ///
    /// A resource with this URI of its own comes before templates, an earlier template before a later one.
    pub(crate) fn find(
        &self,
        uri: &str,
        revision: Revision,
    ) -> Result<(&Handler, Option<String>), RpcError> {
        if let Some(resource) = self.single.table.get(uri) {
            return Ok((&resource.handler, None));
        }
        match self.family(uri) {
            Some((template, variables)) => Ok((&template.handler, Some(object(variables)))),
            None => Err(self.unknown(uri, revision)),
        }
    }

    /// Whether changes of the resource at `uri` are told, if there is one.
    pub(crate) fn tells(&self, uri: &str) -> Option<bool> {
        match self.single.table.get(uri) {
            Some(resource) => Some(resource.detail.subscribe),
            None => self.family(uri).map(|(family, _)| family.detail.subscribe),
        }
    }

    /// Refuses a URI whose changes are not told.
    pub(crate) fn check_subscription(&self, uri: &str, revision: Revision) -> Result<(), RpcError> {
        match self.tells(uri) {
            Some(true) => Ok(()),
            Some(false) => Err(RpcError::invalid_params(format!(
                "changes of the resource {} are not told",
                quoted(uri)
            ))),
            None => Err(self.unknown(uri, revision)),
        }
    }

    /// The arguments of the template that `uri` is or stands for, and what proposes values for them.
    pub(crate) fn completers(&self, uri: &str) -> Option<(Vec<&str>, &Completers)> {
        if let Some(resource) = self.single.table.get(uri) {
            return Some((Vec::new(), &resource.completers));
        }
        let template = match self.families.table.get(uri) {
            Some(template) => template,
            None => self.family(uri)?.0,
        };
        let variables = template.detail.pattern.variables();
        Some((variables.collect(), &template.completers))
    }

    #[cold]
    fn unknown(&self, uri: &str, revision: Revision) -> RpcError {
        let mut message = format!("resource {} was not found", quoted(uri));
        // That both have the same scheme does not make them near.
        let near = uri.split_once(':').and_then(|(scheme, rest)| {
            let keys = self.single.table.keys();
            let same = keys.filter_map(|key| key.strip_prefix(scheme)?.strip_prefix(':'));
            Some((scheme, nearest(rest, same)?))
        });
        if let Some((scheme, rest)) = near {
            message = format!("{message}; did you mean `{scheme}:{rest}`?");
        }
        resource_not_found(uri, message, revision)
    }

    /// The first template that stands for `uri`, and the values of its variables.
    fn family<'a, 'u>(
        &'a self,
        uri: &'u str,
    ) -> Option<(&'a Entry<ResourceTemplate, Template>, Variables<'u>)> {
        let mut families = self.families.table.entries().iter();
        families.find_map(|family| Some((&**family, family.detail.pattern.matches(uri)?)))
    }
}

/// The variables as the object in which the arguments of all functions come.
fn object(variables: Variables<'_>) -> String {
    let member = |(name, value): (&str, Cow<'_, str>)| (name.to_owned(), value.into_owned().into());
    let object: Map<String, Value> = variables.into_iter().map(member).collect();
    Value::Object(object).to_string()
}
