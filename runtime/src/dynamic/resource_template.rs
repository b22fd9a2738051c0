//! Resource templates that are made at run time.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::common::{Suggestions, completions, metadata};
use super::raw::RawResult;
use super::read::{self, ReadRequest, resource_methods};
use super::template::parse;
use super::{Bound, Feature};
use crate::attribute_value::IntoAnnotations;
use crate::context::Context;
use crate::entry::Template;
use crate::function::Function;
use crate::naming::full_name;
use crate::registered::Registered;
use crate::resource::output::{ContentKind, ResourceOutput};
use crate::resource::pattern::{Accepts, Part, Pattern};
use crate::resource::{RegisteredResource, ResourceInfo};
use crate::scope::RequiredScopes;
use crate::wire::RpcError;

/// Builder of a resource template that is made at run time. Needs the feature `dynamic`.
///
/// The URI follows the rules of `#[resource("…")]`: `{name}` is a variable within a segment, and `{+name}` at the end also
/// matches slashes. A value cannot escape the folder that a handler joins it to.
///
/// ```
/// use treenail::dynamic::ResourceTemplate;
/// use treenail::Server;
///
/// let pages = ResourceTemplate::new("docs://pages/{id}", "page")
///     .complete("id", |typed| vec![format!("{}-1", typed.text())])
///     .handler(|_, request| async move { request.variable("id") });
/// let server = Server::builder("demo", "1.0.0").add(pages).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[must_use = "a template is complete once it has a handler"]
pub struct ResourceTemplate {
    descriptor: treenail_schema::ResourceTemplate,
    scopes: Option<RequiredScopes>,
    subscribe: bool,
    suggestions: Suggestions,
    accepts: Option<Accepts>,
    listed: bool,
    problem: Result<(), String>,
}

metadata!(ResourceTemplate);
completions!(ResourceTemplate);
resource_methods!(ResourceTemplate);

impl From<treenail_schema::ResourceTemplate> for ResourceTemplate {
    fn from(descriptor: treenail_schema::ResourceTemplate) -> Self {
        Self {
            descriptor,
            scopes: None,
            subscribe: false,
            suggestions: Suggestions::default(),
            accepts: None,
            listed: true,
            problem: Ok(()),
        }
    }
}

impl ResourceTemplate {
    /// Creates a template.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        treenail_schema::ResourceTemplate::new(uri_template, name).into()
    }

    /// Decides by `accepts` whether a URI belongs to the template, instead of by the template itself. The handler gets no
    /// variables then. It is for templates of other servers, which may have any expression of RFC 6570.
    pub fn accepts(mut self, accepts: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.accepts = Some(Box::new(accepts));
        self
    }

    /// Omits the template from lists, and tries it after all others. It is for resources that results refer to, but that no list
    /// contains.
    pub fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }

    fn bind(
        self,
        function: Function<(), ResourceInfo>,
        namespace: &str,
    ) -> Result<RegisteredResource, String> {
        let mut descriptor = self.descriptor;
        let name = full_name("resource", namespace, &descriptor.name)?;
        let pattern = match self.accepts {
            Some(accepts) => Pattern::custom(accepts),
            None => parts(&descriptor.uri_template)
                .map(Pattern::new)
                .map_err(|error| format!("resource `{name}`: its URI {error}"))?,
        };
        let variables: Vec<_> = pattern.variables().map(Cow::Borrowed).collect();
        let properties: Map<String, Value> = variables
            .iter()
            .map(|name| (name.clone().into_owned(), json!({"type": "string"})))
            .collect();
        let bind = |()| self.suggestions.bind(variables.into_iter());
        let completers = self.problem.and_then(bind);
        let completers = completers.map_err(|problem| format!("resource `{name}`: {problem}"))?;
        let kind = ContentKind::of(function.output_schema);
        let implied = || kind.mime_type().map(str::to_owned);
        descriptor.mime_type = descriptor.mime_type.or_else(implied);
        descriptor.name.clone_from(&name);
        let schema = Map::from_iter([("properties".to_owned(), properties.into())]);
        let content = (descriptor.mime_type.clone(), descriptor.meta.as_ref());
        let info = ResourceInfo::new(name, kind, content, schema);
        let bound = Registered::new(descriptor, |_| function.bind(Arc::new(()), info));
        let bound = bound.with_completers(completers).with_scopes(self.scopes);
        let detail = Template {
            pattern,
            subscribe: self.subscribe,
            listed: self.listed,
        };
        Ok(RegisteredResource::Template(bound, detail))
    }
}

/// Parses a template, which must have a variable.
fn parts(uri: &str) -> Result<Vec<Part<String>>, String> {
    let parts = parse(uri)?;
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return Err("has no variable such as `{id}`; make it a `Resource`".to_owned());
    }
    Ok(parts)
}
