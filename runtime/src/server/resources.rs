//! Which resource a URI means: one of its own, or one of a family that a template stands for.

use std::borrow::Cow;

use serde_json::{Map, Value};
use treenail_schema::{Resource, ResourceTemplate, Revision};

use crate::definition::Completers;
use crate::name::nearest;
use crate::resource::BoundResource;
use crate::resource::pattern::{Pattern, Variables};
use crate::respond::Handler;
use crate::revision::resource_not_found;
use crate::server::table::{Entry, Table};
use crate::wire::{RpcError, quoted};

/// The resources of a server, and the templates with what takes their URIs apart.
#[derive(Debug)]
pub(crate) struct Resources {
    pub(crate) single: Table<Resource>,
    pub(crate) families: Table<ResourceTemplate>,
    /// One for each of `families`.
    patterns: Vec<Pattern>,
}

impl Resources {
    pub(crate) fn new(bound: Vec<BoundResource>, separator: Option<&str>) -> Result<Self, String> {
        let (mut single, mut families, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
        for bound in bound {
            match bound {
                BoundResource::One(resource) => single.push(resource),
                BoundResource::Family(template, pattern) => {
                    families.push(template);
                    patterns.push(pattern);
                }
            }
        }
        Ok(Self {
            single: Table::new(single, separator)?,
            families: Table::new(families, separator)?,
            patterns,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.single.is_empty() && self.families.is_empty()
    }

    /// What reads the resource at `uri`, and the text of the object with the variables of its template.
    ///
    /// A resource with this URI of its own comes before templates, an earlier template before a later one.
    pub(crate) fn find(
        &self,
        uri: &str,
        revision: Revision,
    ) -> Result<(&Handler, Option<String>), RpcError> {
        if let Some(resource) = self.single.get(uri) {
            return Ok((&resource.handler, None));
        }
        let matches = |(template, pattern): (_, &Pattern)| Some((template, pattern.matches(uri)?));
        match self.families().find_map(matches) {
            Some((template, variables)) => Ok((&template.handler, Some(object(variables)))),
            None => Err(self.unknown(uri, revision)),
        }
    }

    /// The arguments of the template that `uri` is or stands for, and what proposes values for them.
    pub(crate) fn completers(&self, uri: &str) -> Option<(Vec<&str>, &Completers)> {
        if let Some(resource) = self.single.get(uri) {
            return Some((Vec::new(), &resource.completers));
        }
        let (template, pattern) = self.families().find(|(template, pattern)| {
            template.descriptor.uri_template == uri || pattern.matches(uri).is_some()
        })?;
        Some((pattern.variables().collect(), &template.completers))
    }

    #[cold]
    fn unknown(&self, uri: &str, revision: Revision) -> RpcError {
        let mut message = format!("resource {} was not found", quoted(uri));
        // That both have the same scheme does not make them near.
        let near = uri.split_once(':').and_then(|(scheme, rest)| {
            let keys = self.single.keys();
            let same = keys.filter_map(|key| key.strip_prefix(scheme)?.strip_prefix(':'));
            Some((scheme, nearest(rest, same)?))
        });
        if let Some((scheme, rest)) = near {
            message = format!("{message}; did you mean `{scheme}:{rest}`?");
        }
        resource_not_found(uri, message, revision)
    }

    fn families(&self) -> impl Iterator<Item = (&Entry<ResourceTemplate>, &Pattern)> {
        self.families.entries().iter().zip(&self.patterns)
    }
}

/// The variables as the object in which the arguments of all functions come.
fn object(variables: Variables<'_>) -> String {
    let member = |(name, value): (&str, Cow<'_, str>)| (name.to_owned(), value.into_owned().into());
    let object: Map<String, Value> = variables.into_iter().map(member).collect();
    Value::Object(object).to_string()
}
