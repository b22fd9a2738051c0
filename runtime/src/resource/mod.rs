//! Resources and resource templates: declarations made with `#[resource]`, and their registration with the server.

pub(crate) mod bytes;
pub(crate) mod output;
pub(crate) mod pattern;

use std::borrow::Cow;
use std::sync::Arc;

use iri_string::template::UriTemplateStr;
use iri_string::types::UriStr;
use serde_json::{Map, Value, json};
use treenail_schema::{Annotations, MetaObject, Resource, ResourceTemplate, Revision};

use crate::call::Call;
use crate::completion::listed_completers;
use crate::definition::{Definition, Metadata};
use crate::entry::{Fixed, Template};
use crate::function::FeatureKind;
use crate::function::argument_error::{Problem, format_problems};
use crate::function::run::panic_error;
use crate::registered::Registered;
use crate::resource::output::ContentKind;
use crate::resource::pattern::{Part, Pattern};
use crate::result_writer::ResultWriter;
use crate::scope::Access;
use crate::wire::RpcError;

/// Metadata of a resource or a resource template.
pub type ResourceMetadata = Metadata<ResourceInfo>;

/// A resource or template on the state `S` that is not bound to a value of it yet.
pub type ResourceDefinition<S> = Definition<S, ResourceInfo>;

/// Metadata that only resources and templates have.
#[derive(Debug, Default)]
pub struct ResourceDetails {
    uri: &'static str,
    /// Parts of the URI template; empty for a fixed URI.
    parts: Vec<Part>,
    mime_type: Option<&'static str>,
    size: Option<i64>,
    annotations: Option<Annotations>,
    subscribe: bool,
}

impl ResourceMetadata {
    /// Sets the URI of the resource.
    #[must_use]
    pub fn uri(mut self, uri: &'static str) -> Self {
        self.details.uri = uri;
        self
    }

    /// Sets the URI template and its parts.
    #[must_use]
    pub fn template(mut self, uri: &'static str, parts: impl Into<Vec<Part>>) -> Self {
        self.details.uri = uri;
        self.details.parts = parts.into();
        self
    }

    /// Sets the media type of the contents.
    #[must_use]
    pub fn mime_type(mut self, mime_type: &'static str) -> Self {
        self.details.mime_type = Some(mime_type);
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn size(mut self, size: i64) -> Self {
        self.details.size = Some(size);
        self
    }

    /// Sets the annotations: audience, priority and modification date.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.details.annotations = Some(annotations);
        self
    }

    /// Sets whether clients can subscribe to changes.
    #[must_use]
    pub fn subscribable(mut self, subscribable: bool) -> Self {
        self.details.subscribe = subscribable;
        self
    }
}

/// A resource or template, complete except for its final name.
#[derive(Debug)]
pub(crate) enum RegisteredResource {
    Fixed(Registered<Resource>, Fixed),
    Template(Registered<ResourceTemplate>, Template),
}

impl<S: Send + Sync + 'static> ResourceDefinition<S> {
    /// Binds the resource or template to `state`, in `namespace`.
    pub(crate) fn bind(
        mut self,
        namespace: &str,
        state: &Arc<S>,
    ) -> Result<RegisteredResource, String> {
        let name = self.metadata.full_name("resource", namespace)?;
        let with_name = |error| format!("resource `{name}`: {error}");
        let mut details = std::mem::take(&mut self.metadata.details);
        check_uri(&details).map_err(with_name)?;
        let meta = self.metadata.take_meta().map_err(with_name)?;
        let kind = ContentKind::of(self.function.output_schema);
        details.mime_type = details.mime_type.or(kind.mime_type());
        let info = ResourceInfo {
            name: name.clone(),
            kind,
            mime_type: details.mime_type.map(Cow::Borrowed),
            content_meta: content_meta(meta.as_ref()),
            input_schema: self.function.take_input_schema().map_err(with_name)?,
        };
        let listed: Vec<_> = listed_completers(&info.input_schema).collect();
        let subscribe = details.subscribe;
        let (mut resource, parts) = descriptor(name, &mut self.metadata, details);
        resource.meta = meta;
        if parts.is_empty() {
            let bound = self.bind_to(state, resource, |_| info);
            return Ok(RegisteredResource::Fixed(bound, Fixed { subscribe }));
        }
        let pattern = Pattern::new(parts);
        let bound = self.bind_to(state, into_template(resource), |_| info);
        let bound = bound.with_default_completers(listed);
        let detail = Template {
            pattern,
            subscribe,
            listed: true,
        };
        Ok(RegisteredResource::Template(bound, detail))
    }
}

/// Returns the descriptor of a resource without `_meta`, and the parts of its URI if that is a template.
#[inline]
fn descriptor(
    name: String,
    metadata: &mut ResourceMetadata,
    details: ResourceDetails,
) -> (Resource, Vec<Part>) {
    let mut resource = Resource::new(details.uri, name);
    resource.title = metadata.title.map(str::to_owned);
    resource.description = metadata.description.map(str::to_owned);
    resource.icons = metadata.take_icons();
    resource.mime_type = details.mime_type.map(str::to_owned);
    resource.size = details.size;
    resource.annotations = details.annotations;
    (resource, details.parts)
}

/// Converts the descriptor to that of a template, which has no size.
fn into_template(resource: Resource) -> ResourceTemplate {
    let mut template = ResourceTemplate::new(resource.uri, resource.name);
    template.title = resource.title;
    template.description = resource.description;
    template.icons = resource.icons;
    template.meta = resource.meta;
    template.mime_type = resource.mime_type;
    template.annotations = resource.annotations;
    template
}

/// Validates a URI (RFC 3986) or a URI template (RFC 6570).
#[inline]
fn check_uri(details: &ResourceDetails) -> Result<(), String> {
    let uri = details.uri;
    if details.parts.is_empty() {
        UriStr::new(uri)
            .map(drop)
            .map_err(|error| format!("`{uri}` is not a URI: {error}"))
    } else {
        UriTemplateStr::new(uri)
            .map(drop)
            .map_err(|error| format!("`{uri}` is not a URI template: {error}"))
    }
}

/// Information about a resource that its requests need.
#[derive(Debug)]
pub struct ResourceInfo {
    pub(crate) name: String,
    kind: ContentKind,
    mime_type: Option<Cow<'static, str>>,
    /// The JSON text of the `_meta` of contents that the function has not built itself.
    content_meta: Option<Box<str>>,
    input_schema: Map<String, Value>,
}

impl ResourceInfo {
    /// Creates the information about a resource, with its media type and metadata. The schema is for error messages.
    #[cfg(feature = "resource-sources")]
    pub(crate) fn new(
        name: String,
        kind: ContentKind,
        (mime_type, meta): (Option<String>, Option<&MetaObject>),
        input_schema: Map<String, Value>,
    ) -> Self {
        Self {
            name,
            kind,
            mime_type: mime_type.map(Cow::Owned),
            content_meta: content_meta(meta),
            input_schema,
        }
    }
}

/// Part of a call that the result of its resource needs.
#[derive(Debug)]
pub struct ReadContext {
    /// The requested URI.
    pub(crate) uri: Box<str>,
    /// Set if other callers may not read the result.
    pub(crate) authorized: bool,
    /// The revision of the caller. The result may be in the format of another one, for layers.
    pub(crate) revision: Revision,
}

/// Returns the `_meta` of the contents of a resource: settings of user interfaces, which some hosts read there only.
fn content_meta(meta: Option<&MetaObject>) -> Option<Box<str>> {
    let ui = meta?.get("ui")?;
    Some(json!({ "ui": ui }).to_string().into())
}

impl FeatureKind for ResourceInfo {
    type Details = ResourceDetails;
    type WriteContext = ReadContext;

    fn write_context(call: &Call<'_>) -> ReadContext {
        let authorized =
            call.extensions.get::<Access>().is_some() || call.server.has_private_items();
        ReadContext {
            uri: call.target.name.into(),
            authorized,
            revision: call.peer.revision(),
        }
    }

    fn reject(
        &self,
        problems: &[Problem],
        _: Option<&str>,
        _: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let heading = format!(
            "wrong variables in the URI of the resource `{}`:",
            self.name
        );
        Err(RpcError::invalid_params(format_problems(
            heading,
            problems,
            &Value::Null,
            &self.input_schema,
        )))
    }

    fn on_panic(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panic_error("resource", &self.name, message))
    }
}
