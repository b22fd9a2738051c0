//! Lookup of resources by URI: those with a URI of their own, and those of templates.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::Revision;
#[cfg(feature = "tower")]
use treenail_schema::{Resource, ResourceTemplate};

#[cfg(feature = "tower")]
use crate::entry::Descriptor;
use crate::entry::Entry;
use crate::handler::Handler;
use crate::naming::nearest;
use crate::registered::Completers;
use crate::resource::pattern::Variables;
use crate::revision::resource_not_found;
use crate::scope::RequiredScopes;
use crate::server::registry::list::List;
use crate::wire::{RpcError, quoted};

/// Maximum length of a URI that is compared with templates, each of which may read all of it.
const MAX_URI_BYTES: usize = 64 * 1024;

/// Resources and templates of a server.
#[derive(Debug)]
pub(crate) struct Resources {
    pub(crate) single: Arc<List>,
    pub(crate) families: Arc<List>,
    /// Templates that are in no list, tried last.
    pub(crate) unlisted: Vec<Arc<Entry>>,
}

impl Resources {
    pub(crate) fn is_empty(&self) -> bool {
        self.single.index.is_empty() && self.families.index.is_empty()
    }

    /// Returns `true` if some resource can be subscribed to.
    pub(crate) fn are_subscribable(&self) -> bool {
        let single = self.single.index.entries().iter();
        let families = self.families.index.entries().iter().chain(&self.unlisted);
        single.chain(families).any(|entry| entry.is_subscribable())
    }

    /// Returns the handler for `uri`, and the text of the object with the variables of its template.
    ///
    /// A resource with exactly this URI takes precedence over templates, an earlier template over a later one.
    pub(crate) fn find(
        &self,
        uri: &str,
        revision: Revision,
    ) -> Result<(&Handler, Option<String>), RpcError> {
        if let Some(resource) = self.single.index.get(uri) {
            return Ok((&resource.handler, None));
        }
        match self.family(uri) {
            Some((template, variables)) => Ok((&template.handler, Some(object(variables)))),
            None => Err(self.unknown(uri, revision)),
        }
    }

    /// Returns the resource with exactly this URI.
    #[cfg(feature = "tower")]
    pub(crate) fn resource(&self, uri: &str) -> Option<&Resource> {
        match &self.single.index.get(uri)?.descriptor {
            Descriptor::Resource(resource, _) => Some(resource),
            _ => None,
        }
    }

    /// Returns the template of a URI that no resource has.
    #[cfg(feature = "tower")]
    pub(crate) fn template(&self, uri: &str) -> Option<&ResourceTemplate> {
        if self.single.index.get(uri).is_some() {
            return None;
        }
        match &self.family(uri)?.0.descriptor {
            Descriptor::Template(template, _) => Some(template),
            _ => None,
        }
    }

    /// Returns the scopes of the resource at `uri`.
    pub(crate) fn scopes(&self, uri: &str) -> Option<&RequiredScopes> {
        match self.single.index.get(uri) {
            Some(resource) => Some(&resource.scopes),
            None => self.family(uri).map(|(family, _)| &family.scopes),
        }
    }

    /// Returns `Some(true)` if the resource at `uri` can be subscribed to, and `None` if there is none.
    pub(crate) fn is_subscribable(&self, uri: &str) -> Option<bool> {
        match self.single.index.get(uri) {
            Some(resource) => Some(resource.is_subscribable()),
            None => self.family(uri).map(|(family, _)| family.is_subscribable()),
        }
    }

    /// Rejects a URI that cannot be subscribed to.
    pub(crate) fn check_subscription(&self, uri: &str, revision: Revision) -> Result<(), RpcError> {
        match self.is_subscribable(uri) {
            Some(true) => Ok(()),
            Some(false) => Err(RpcError::invalid_params(format!(
                "resource {} does not support subscriptions",
                quoted(uri)
            ))),
            None => Err(self.unknown(uri, revision)),
        }
    }

    /// Returns the arguments and completers of the template that `uri` is, or that matches it.
    pub(crate) fn completers(&self, uri: &str) -> Option<(Vec<&str>, &Completers)> {
        if let Some(resource) = self.single.index.get(uri) {
            return Some((Vec::new(), &resource.completers));
        }
        let template = match self.families.index.get(uri) {
            Some(template) => template,
            None => self.family(uri)?.0,
        };
        let variables = template.template()?.pattern.variables();
        Some((variables.collect(), &template.completers))
    }

    #[cold]
    pub(crate) fn unknown(&self, uri: &str, revision: Revision) -> RpcError {
        let mut message = format!("resource {} was not found", quoted(uri));
        // Equal schemes do not count as similarity.
        let near = uri.split_once(':').and_then(|(scheme, rest)| {
            let keys = self.single.index.keys();
            let same = keys.filter_map(|key| key.strip_prefix(scheme)?.strip_prefix(':'));
            Some((scheme, nearest(rest, same)?))
        });
        if let Some((scheme, rest)) = near {
            message = format!("{message}; did you mean `{scheme}:{rest}`?");
        }
        resource_not_found(uri, message, revision)
    }

    /// Returns the first template that matches `uri`, and the values of its variables. A template matches no URI above
    /// [`MAX_URI_BYTES`].
    fn family<'a, 'u>(&'a self, uri: &'u str) -> Option<(&'a Entry, Variables<'a, 'u>)> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        let listed = self.families.index.entries().iter();
        let mut families = listed.chain(&self.unlisted);
        families.find_map(|family| Some((&**family, family.template()?.pattern.matches(uri)?)))
    }
}

/// Returns the variables as a JSON object, the form that all functions take their arguments in.
fn object(variables: Variables<'_, '_>) -> String {
    let member = |(name, value): (&str, Cow<'_, str>)| (name.to_owned(), value.into_owned().into());
    let object: Map<String, Value> = variables.into_iter().map(member).collect();
    Value::Object(object).to_string()
}
