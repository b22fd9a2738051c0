//! Resources that are made at run time.

use std::future::Future;
use std::sync::Arc;

use iri_string::types::UriStr;
use serde_json::Map;

use super::common::metadata;
use super::raw::RawResult;
use super::read::{self, ReadRequest, resource_methods};
use super::{Bound, Feature};
use crate::attribute_value::IntoAnnotations;
use crate::context::Context;
use crate::entry::Fixed;
use crate::function::Function;
use crate::naming::full_name;
use crate::registered::Registered;
use crate::resource::output::{ContentKind, ResourceOutput};
use crate::resource::{RegisteredResource, ResourceInfo};
use crate::scope::RequiredScopes;
use crate::wire::RpcError;

/// Builder of a resource that is made at run time. Needs the feature `dynamic`.
///
/// [`handler`](Self::handler), [`blocking`](Self::blocking) or [`raw`](Self::raw) completes it. It can be made from a
/// descriptor too, with `Resource::from`. Namespaces are a prefix of its name, not of its URI.
///
/// ```
/// use treenail::dynamic::Resource;
/// use treenail::Server;
///
/// let readme = Resource::new("docs://readme", "readme")
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
    problem: Result<(), String>,
}

metadata!(Resource);
resource_methods!(Resource);

impl From<treenail_schema::Resource> for Resource {
    fn from(descriptor: treenail_schema::Resource) -> Self {
        Self {
            descriptor,
            scopes: None,
            subscribe: false,
            problem: Ok(()),
        }
    }
}

impl Resource {
    /// Creates a resource.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        treenail_schema::Resource::new(uri, name).into()
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
        let with_name = |problem| format!("resource `{name}`: {problem}");
        self.problem.map_err(with_name)?;
        UriStr::new(uri).map_err(|error| with_name(format!("`{uri}` is not a URI: {error}")))?;
        let kind = ContentKind::of(function.output_schema);
        let implied = || kind.mime_type().map(str::to_owned);
        descriptor.mime_type = descriptor.mime_type.or_else(implied);
        descriptor.name.clone_from(&name);
        let content = (descriptor.mime_type.clone(), descriptor.meta.as_ref());
        let info = ResourceInfo::new(name, kind, content, Map::new());
        let bound = Registered::new(descriptor, |_| function.bind(Arc::new(()), info));
        let subscribe = self.subscribe;
        let bound = bound.with_scopes(self.scopes);
        Ok(RegisteredResource::Fixed(bound, Fixed { subscribe }))
    }
}
