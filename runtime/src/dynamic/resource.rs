//! Resources and templates that are made at run time.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use iri_string::types::UriStr;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use treenail_schema::Annotations;

use super::arguments::{ArgumentError, Arguments, Form};
use super::checked::Unchecked;
use super::common::{Suggestions, metadata};
use super::raw::{RawOutcome, RawResult, bounded};
use super::template::parse;
use super::{Bound, Feature, results};
use crate::attribute_value::IntoAnnotations;
use crate::call::{Call, CallValue, Lifetime};
use crate::completion::{CompletionRequest, IntoCompletions};
use crate::context::Context;
use crate::definition::Registered;
use crate::function::kind::Kind;
use crate::function::{Function, Output};
use crate::naming::full_name;
use crate::resource::output::{ContentKind, ResourceOutput};
use crate::resource::pattern::{Accepts, Part, Pattern};
use crate::resource::{Fixed, RegisteredResource, ResourceInfo, Template};
use crate::scope::RequiredScopes;
use crate::wire::RpcError;

/// Request to read a resource, as its handler takes it. Needs the feature `dynamic`.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    uri: Box<str>,
    variables: Arguments,
}

impl ReadRequest {
    /// Returns the URI as the caller wrote it.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the decoded value of a variable of the template.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name)
    }

    /// Deserializes the variables. Numbers and other types are parsed from their text.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] if they do not fit the type. It names the variable.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        self.variables.parse()
    }
}

/// Context of a call and the URI that it reads.
struct Reading {
    context: Context,
    uri: Box<str>,
}

impl CallValue for Reading {
    fn from_call(call: &Call<'_>) -> Self {
        Self {
            context: Context::from_call(call),
            uri: call.target.name.into(),
        }
    }

    fn lifetime(&self) -> Lifetime {
        self.context.lifetime()
    }
}

impl Reading {
    fn request(self, variables: Arguments) -> (Context, ReadRequest) {
        let uri = self.uri;
        (self.context, ReadRequest { uri, variables })
    }
}

/// Defines the handlers of a builder.
macro_rules! handlers {
    ($builder:ident) => {
        metadata!($builder);

        impl $builder {
            /// Sets the media type of the contents. Default: `application/json` for output types that are written as JSON.
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.descriptor.mime_type = Some(mime_type.into());
                self
            }

            /// Sets the annotations: audience, priority and modification date.
            pub fn annotations(mut self, annotations: impl IntoAnnotations) -> Self {
                let annotations: Annotations = annotations.into_annotations();
                self.descriptor.annotations = Some(annotations);
                self
            }

            /// Sets whether clients can subscribe to changes, which
            /// [`Server::resource_updated`](crate::Server::resource_updated) announces. Default `false`.
            pub fn subscribable(mut self, subscribable: bool) -> Self {
                self.subscribe = subscribable;
                self
            }

            /// Completes it with an asynchronous handler. A result of `None` means that the resource does not exist.
            pub fn handler<F, R, T, K>(self, handler: F) -> Feature
            where
                F: Fn(Context, ReadRequest) -> R + Send + Sync + 'static,
                R: Future<Output = T> + Send + 'static,
                T: ResourceOutput<K> + 'static,
            {
                let body = move |_, reading: Reading, variables| {
                    let (context, request) = reading.request(variables);
                    handler(context, request)
                };
                let output = T::output(Kind::any());
                self.feature(Function::asynchronous(Unchecked(Form::Texts), output, body))
            }

            /// Completes it with a blocking handler, which runs on a thread for blocking work.
            pub fn blocking<F, T, K>(self, handler: F) -> Feature
            where
                F: Fn(Context, ReadRequest) -> T + Send + Sync + 'static,
                T: ResourceOutput<K> + Send + 'static,
            {
                let body = move |_, reading: Reading, variables| {
                    let (context, request) = reading.request(variables);
                    handler(context, request)
                };
                let output = T::output(Kind::any());
                self.feature(Function::blocking(Unchecked(Form::Texts), output, body))
            }

            /// Completes it with a handler that returns the text of a `ReadResourceResult`. An error of the handler becomes a
            /// JSON-RPC error.
            pub fn raw<F, R>(self, handler: F) -> Feature
            where
                F: Fn(Context, ReadRequest) -> R + Send + Sync + 'static,
                R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
            {
                let output = Output::<RawOutcome, ResourceInfo> {
                    schema: |_| None,
                    write: |outcome, info, (_, authorized), result| {
                        results::resource(outcome, info, *authorized, result)
                    },
                };
                let body = move |_, reading: Reading, variables| {
                    let (context, request) = reading.request(variables);
                    bounded(context.clone(), handler(context, request))
                };
                self.feature(Function::asynchronous(Unchecked(Form::Texts), output, body))
            }

            fn feature(self, function: Function<(), ResourceInfo>) -> Feature {
                let name = self.descriptor.name.clone();
                Feature::new("resource", &name, move |namespace| {
                    self.bind(function, namespace).map(Bound::Resource)
                })
            }
        }
    };
}

/// Builder of a resource that is made at run time. Needs the feature `dynamic`.
///
/// [`handler`](Self::handler), [`blocking`](Self::blocking) or [`raw`](Self::raw) completes it. It can be made from a
/// descriptor too, with `Resource::from`. Namespaces are a prefix of its name, not of its URI.
///
/// ```
/// use treenail::dynamic::Resource;
/// use treenail::Server;
///
/// let readme = Resource::new("readme", "docs://readme")
///     .mime_type("text/markdown")
///     .handler(|_, _| async { "# Demo" });
/// let server = Server::builder("demo", "1.0.0").add(readme).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[must_use = "a resource is complete once it has a handler"]
pub struct Resource {
    descriptor: treenail_schema::Resource,
    scopes: Option<RequiredScopes>,
    subscribe: bool,
}

handlers!(Resource);

impl From<treenail_schema::Resource> for Resource {
    fn from(descriptor: treenail_schema::Resource) -> Self {
        Self {
            descriptor,
            scopes: None,
            subscribe: false,
        }
    }
}

impl Resource {
    /// Creates a resource.
    pub fn new(name: impl Into<String>, uri: impl Into<String>) -> Self {
        treenail_schema::Resource::new(name, uri).into()
    }

    /// Sets the size in bytes.
    pub fn size(mut self, size: i64) -> Self {
        self.descriptor.size = Some(size);
        self
    }

    fn bind(
        self,
        function: Function<(), ResourceInfo>,
        namespace: &str,
    ) -> Result<RegisteredResource, String> {
        let mut descriptor = self.descriptor;
        let name = full_name("resource", namespace, &descriptor.name)?;
        let uri = &descriptor.uri;
        UriStr::new(uri)
            .map_err(|error| format!("resource `{name}`: `{uri}` is not a URI: {error}"))?;
        let kind = ContentKind::of(function.output_schema);
        let implied = || kind.mime_type().map(str::to_owned);
        descriptor.mime_type = descriptor.mime_type.or_else(implied);
        descriptor.name.clone_from(&name);
        let info = ResourceInfo::new(name, kind, descriptor.mime_type.clone(), Map::new());
        let bound = Registered::new(descriptor, |_| function.bind(Arc::new(()), info));
        let subscribe = self.subscribe;
        let bound = bound.with_scopes(self.scopes).with(Fixed { subscribe });
        Ok(RegisteredResource::Fixed(bound))
    }
}

/// Builder of a resource template that is made at run time. Needs the feature `dynamic`.
///
/// The URI follows the rules of `#[resource("…")]`: `{name}` is a variable within a segment, and `{+name}` at the end also
/// matches slashes. A value cannot escape the folder that a handler joins it to.
///
/// ```
/// use treenail::dynamic::ResourceTemplate;
/// use treenail::Server;
///
/// let pages = ResourceTemplate::new("page", "docs://pages/{id}")
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
}

handlers!(ResourceTemplate);

impl From<treenail_schema::ResourceTemplate> for ResourceTemplate {
    fn from(descriptor: treenail_schema::ResourceTemplate) -> Self {
        Self {
            descriptor,
            scopes: None,
            subscribe: false,
            suggestions: Suggestions::default(),
            accepts: None,
            listed: true,
        }
    }
}

impl ResourceTemplate {
    /// Creates a template.
    pub fn new(name: impl Into<String>, uri_template: impl Into<String>) -> Self {
        treenail_schema::ResourceTemplate::new(name, uri_template).into()
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

    /// Adds completion for a variable, as `#[arg(complete = …)]` does.
    pub fn complete<F, C, K>(mut self, variable: impl Into<String>, complete: F) -> Self
    where
        F: Fn(CompletionRequest) -> C + Send + Sync + 'static,
        C: IntoCompletions<K> + Send + 'static,
    {
        self.suggestions.add(variable.into(), complete);
        self
    }

    /// Adds completion for all variables without their own: a handler that takes the JSON text of the parameters of
    /// `completion/complete`, and returns that of a `CompleteResult`.
    pub fn complete_raw<F, R>(mut self, complete: F) -> Self
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
    {
        self.suggestions.set_raw(complete);
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
        let completers = self.suggestions.bind(variables.into_iter());
        let completers = completers.map_err(|problem| format!("resource `{name}`: {problem}"))?;
        let kind = ContentKind::of(function.output_schema);
        let implied = || kind.mime_type().map(str::to_owned);
        descriptor.mime_type = descriptor.mime_type.or_else(implied);
        descriptor.name.clone_from(&name);
        let schema = Map::from_iter([("properties".to_owned(), properties.into())]);
        let info = ResourceInfo::new(name, kind, descriptor.mime_type.clone(), schema);
        let bound = Registered::new(descriptor, |_| function.bind(Arc::new(()), info));
        let bound = bound.with_completers(completers).with_scopes(self.scopes);
        let subscribe = self.subscribe;
        Ok(RegisteredResource::Template(bound.with(Template {
            pattern,
            subscribe,
            listed: self.listed,
        })))
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
