//! Resources of an extension, which it provides and replaces while a server runs.

use std::sync::Arc;

use serde_json::Map;
use treenail_schema::{CacheScope, Resource, ResourceContents, ResourceTemplate};

use crate::context::Context;
use crate::entry::{Fixed, Template};
use crate::error::Error;
use crate::function::Function;
use crate::function::kind::Kind;
use crate::function::run::{Running, RunningCall};
use crate::registered::Registered;
use crate::resource::output::{ContentKind, ResourceOutput};
use crate::resource::pattern::Pattern;
use crate::resource::{RegisteredResource, ResourceInfo};
use crate::scope::RequiredScopes;
use crate::server::Server;
use crate::server::edit::{Edit, Step};
use crate::server::namespace::{Group, Parts};
use crate::server::provider::SourceId;
use crate::server::registry::{Registry, Snapshot};
use crate::visibility::Caller;
use crate::wire::RpcError;

/// Content of the resources of a [`ResourceSource`].
pub trait ReadResource: Send + Sync + 'static {
    /// Returns `true` if there is a resource at `uri`.
    fn contains(&self, uri: &str) -> bool;

    /// Returns the contents of the resource at `uri`, or `None` if the caller has none there.
    fn read(&self, context: &Context, uri: &str) -> Option<ResourceContents>;
}

/// Source of resources. A clone is the same source.
#[derive(Clone, Debug)]
pub struct ResourceSource {
    id: SourceId,
}

impl Default for ResourceSource {
    fn default() -> Self {
        Self {
            id: SourceId::new(),
        }
    }
}

impl ResourceSource {
    /// Replaces the resources of this source at `server`, and notifies the peers. `listed` are those in lists; `content` has them,
    /// and others that are in no list. The unlisted ones are one template for the rules of the server, which is `template`.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if the server has another resource at a URI of `listed`, or a name is invalid. The server is then unchanged.
    pub fn provide(
        &self,
        server: &Server,
        resources: (Vec<Resource>, ResourceTemplate),
        content: &Arc<dyn ReadResource>,
    ) -> Result<(), Error> {
        server.apply_edit(self.edit(server, resources, content)?)
    }

    /// Adds the resources to a server that is being built, as [`provide`](Self::provide) does. Nobody is notified: replicas would
    /// announce a change for each start of another.
    ///
    /// # Errors
    ///
    /// Those of [`provide`](Self::provide).
    pub fn start(
        &self,
        server: &Server,
        resources: (Vec<Resource>, ResourceTemplate),
        content: &Arc<dyn ReadResource>,
    ) -> Result<(), Error> {
        let edit = self.edit(server, resources, content)?;
        let applied = Registry::of(server).apply(edit, &server.state.config);
        applied.map(drop).map_err(Error::Build)
    }

    fn edit(
        &self,
        server: &Server,
        (listed, template): (Vec<Resource>, ResourceTemplate),
        content: &Arc<dyn ReadResource>,
    ) -> Result<Edit, Error> {
        let provider = self.id.provider();
        let uris = listed.iter().map(|resource| &*resource.uri).collect();
        if let Some(uri) = Registry::of(server).taken(&uris, &provider) {
            let message = format!("the server has another resource at `{uri}`");
            return Err(Error::Build(message));
        }
        let listed = listed.into_iter().map(|resource| fixed(resource, content));
        let mut resources: Vec<_> = listed.collect();
        resources.push(unlisted(template, content));
        let group = Group {
            mounted: None,
            instructions: "".into(),
            provider: Some(provider.clone()),
            absence: None,
            scopes: RequiredScopes::default(),
            rules: Vec::new(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources,
        };
        let parts = Parts {
            groups: vec![group],
        };
        Ok(Edit {
            steps: vec![Step::Provide(provider, Ok(parts))],
        })
    }
}

fn fixed(descriptor: Resource, content: &Arc<dyn ReadResource>) -> RegisteredResource {
    let mime_type = descriptor.mime_type.clone();
    let info = ResourceInfo::new(
        descriptor.name.clone(),
        ContentKind::Contents,
        (mime_type, None),
        Map::new(),
    );
    let function = function(content);
    let bound = Registered::new(descriptor, |_| function.bind(Arc::new(()), info));
    RegisteredResource::Fixed(bound, Fixed { subscribe: false })
}

fn unlisted(descriptor: ResourceTemplate, content: &Arc<dyn ReadResource>) -> RegisteredResource {
    let name = descriptor.name.clone();
    let info = ResourceInfo::new(name, ContentKind::Contents, (None, None), Map::new());
    let function = function(content);
    let bound = Registered::new(descriptor, |_| function.bind(Arc::new(()), info));
    let content = Arc::clone(content);
    let detail = Template {
        pattern: Pattern::custom(Box::new(move |uri| content.contains(uri))),
        subscribe: false,
        listed: false,
    };
    RegisteredResource::Template(bound, detail)
}

/// Makes the function that reads the resources.
fn function(source: &Arc<dyn ReadResource>) -> Function<(), ResourceInfo> {
    let source = Arc::clone(source);
    let output = <Result<ResourceContents, RpcError>>::output(Kind::any());
    let schemas = (Ok(Map::new()), output.schema);
    Function::new(
        schemas,
        move |_: &Arc<()>, info: &Arc<ResourceInfo>, call, _| {
            let uri = call.target.name.to_owned();
            let (context, running) = RunningCall::of::<Context>(info, call);
            let source = Arc::clone(&source);
            let future = async move {
                let read = source.read(&context, &uri);
                read.ok_or_else(|| VisibleResources::of(&context).unknown(&context, &uri))
            };
            Ok(Some(Running::start(future, output, running)))
        },
    )
}

/// Resources that the caller of a request sees.
#[derive(Debug)]
pub struct VisibleResources(Arc<Snapshot>);

impl VisibleResources {
    /// Evaluates the rules of the server for a caller.
    pub fn of(context: &Context) -> Self {
        let server = context.server();
        let snapshot = Registry::of(server).snapshot();
        let caller = Caller::new(context.extensions(), &context.state().peer);
        let view = snapshot.view(&caller, None, &server.state.config);
        Self(view.unwrap_or(snapshot))
    }

    /// Returns the error for a URI without a resource. It is the same for one that the caller does not see.
    fn unknown(&self, context: &Context, uri: &str) -> RpcError {
        let revision = context.state().peer.revision();
        self.0.resources.unknown(uri, revision)
    }

    /// Returns `true` if the resource at `uri`, which has no template, is enabled and visible.
    pub fn contains(&self, uri: &str) -> bool {
        self.0.resources.single.index.get(uri).is_some()
    }
}

impl Server {
    /// Returns the permission for clients to cache lists: the time in milliseconds, and whether users may share them.
    pub(crate) fn list_caching(&self) -> (u64, CacheScope) {
        let caching = self.state.config.caching();
        (caching.ttl_ms(), caching.scope)
    }
}
