//! The lists of a server.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use tokio::time::Instant;
use treenail_runtime::FeatureDescriptor;
use treenail_runtime::client::{ClientError, McpClient};
use treenail_runtime::internal::timeout::timeout_at;
use treenail_schema::internal::shortened;
use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::interface::interface_uris;
use crate::limits::MAX_URI_BYTES;
use crate::matcher::Matcher;
use crate::omissions::Omissions;
use crate::race::join;
use crate::remote::Remote;
use crate::upstream::Upstream;

/// Lists of resources that have been fetched at least once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fetched {
    resources: bool,
    templates: bool,
}

/// Lists of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lists {
    pub(crate) tools: Vec<Arc<Tool>>,
    pub(crate) prompts: Vec<Arc<Prompt>>,
    pub(crate) resources: Vec<Arc<Resource>>,
    pub(crate) templates: Vec<Arc<ResourceTemplate>>,
    fetched: Fetched,
    /// Set if the server has resources, perhaps none in a list, and the lists are known.
    pub(crate) has_resources: bool,
    /// Set if the server completes arguments.
    pub(crate) completes: bool,
    /// Set if resources can be subscribed to.
    pub(crate) subscribable: bool,
    pub(crate) instructions: Option<String>,
    /// URIs of the user interfaces of served tools that no list of resources contains.
    pub(crate) interfaces: Vec<String>,
    /// URIs and templates at the proxy, in the order of [`Self::uris`].
    pub(crate) listed: Vec<Option<String>>,
}

impl Lists {
    /// Fetches all lists until `deadline`. One that cannot be fetched now stays as it was `before`; the others are served all the
    /// same. Returns false if there is such a list.
    pub(crate) async fn fetch(
        client: &McpClient,
        upstream: &Upstream,
        before: &Self,
        deadline: Instant,
    ) -> Result<(Self, bool), ClientError> {
        let Answers {
            tools,
            prompts,
            resources,
            templates,
        } = Answers::fetch(client, upstream, deadline).await?;
        let info = client.session().peer_info();
        let capabilities = &info.capabilities;
        let is_complete =
            tools.is_some() && prompts.is_some() && resources.is_some() && templates.is_some();
        let fetched = Fetched {
            resources: resources.is_some() || before.fetched.resources,
            templates: templates.is_some() || before.fetched.templates,
        };
        let lists = Self {
            tools: tools.unwrap_or_else(|| before.tools.clone()),
            prompts: prompts.unwrap_or_else(|| before.prompts.clone()),
            resources: resources.unwrap_or_else(|| before.resources.clone()),
            templates: templates.unwrap_or_else(|| before.templates.clone()),
            fetched,
            // A route to resources that no list contains needs the lists.
            has_resources: capabilities.resources.is_some()
                && fetched.resources
                && fetched.templates,
            // The first revision has completions, but no capability for them.
            completes: capabilities.completions.is_some()
                || (info.revision == treenail_schema::Revision::V2024_11_05),
            subscribable: capabilities
                .resources
                .as_ref()
                .is_some_and(|resources| resources.subscribe == Some(true)),
            instructions: info.instructions.clone(),
            interfaces: Vec::new(),
            listed: Vec::new(),
        };
        Ok((lists, is_complete))
    }

    /// Keeps the features that `remote` serves, at most `most` of them, without those whose URI is too long.
    pub(crate) fn select(&mut self, remote: &Remote, most: usize, omissions: &Omissions<'_>) {
        if remote.filter.is_some() && !self.fetched.resources {
            // They could read resources that the filter drops.
            self.templates.clear();
        }
        let before = self.uris().count();
        self.resources.retain(|one| one.uri.len() <= MAX_URI_BYTES);
        self.templates
            .retain(|one| one.uri_template.len() <= MAX_URI_BYTES);
        let too_long = before - self.uris().count();
        omissions.several(too_long, "their URIs have more than 8 KiB");
        let (mut left, mut dropped) = (most, 0);
        let mut keep = |feature: FeatureDescriptor<'_>| {
            let wanted = remote.selects(&feature, omissions);
            let kept = wanted && left > 0;
            left -= usize::from(kept);
            dropped += usize::from(wanted && !kept);
            kept
        };
        self.tools
            .retain(|tool| keep(FeatureDescriptor::Tool(tool)));
        self.prompts
            .retain(|prompt| keep(FeatureDescriptor::Prompt(prompt)));
        self.resources
            .retain(|resource| keep(FeatureDescriptor::Resource(resource)));
        self.templates
            .retain(|template| keep(FeatureDescriptor::ResourceTemplate(template)));
        omissions.several(dropped, "the server has more features than are served");
    }

    /// Returns the names of all features at the server.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter().map(|one| &*one.name);
        let prompts = self.prompts.iter().map(|one| &*one.name);
        let resources = self.resources.iter().map(|one| &*one.name);
        let templates = self.templates.iter().map(|one| &*one.name);
        tools.chain(prompts).chain(resources).chain(templates)
    }

    /// Returns the matchers of the templates that `include` selects.
    pub(crate) fn matchers(&self, include: impl Fn(&str) -> bool) -> Vec<Matcher> {
        let templates = self
            .templates
            .iter()
            .map(|template| &*template.uri_template);
        templates
            .filter(|template| include(template))
            .map(Matcher::new)
            .collect()
    }

    /// Notes the user interfaces of the tools, without those for which `is_known` returns true.
    pub(crate) fn find_interfaces(&mut self, mut is_known: impl FnMut(&str) -> bool) {
        let uris = self.tools.iter().flat_map(|tool| interface_uris(tool));
        let unlisted = uris.filter(|uri| uri.len() <= MAX_URI_BYTES && !is_known(uri));
        let unique: BTreeSet<&str> = unlisted.collect();
        self.interfaces = unique.into_iter().map(str::to_owned).collect();
    }

    /// Returns the URIs and templates, and the URIs of user interfaces.
    pub(crate) fn uris(&self) -> impl Iterator<Item = &str> + Clone {
        let resources = self.resources.iter().map(|resource| &*resource.uri);
        let templates = self.templates.iter().map(|one| &*one.uri_template);
        let interfaces = self.interfaces.iter().map(|uri| &**uri);
        resources.chain(templates).chain(interfaces)
    }
}

/// Lists that a server has sent; `None` for one that could not be fetched.
struct Answers {
    tools: Option<Vec<Arc<Tool>>>,
    prompts: Option<Vec<Arc<Prompt>>>,
    resources: Option<Vec<Arc<Resource>>>,
    templates: Option<Vec<Arc<ResourceTemplate>>>,
}

impl Answers {
    /// Fetches all lists concurrently: one without an answer must not take the time of the others.
    async fn fetch(
        client: &McpClient,
        upstream: &Upstream,
        deadline: Instant,
    ) -> Result<Self, ClientError> {
        let templates = async {
            let templates = client.url_templates().await?;
            let templates = templates.iter().map(|one| Arc::new(one.listed().clone()));
            Ok(templates.collect())
        };
        let features = join(
            until(deadline, client.tools()),
            until(deadline, client.prompts()),
        );
        let resources = join(
            until(deadline, client.resources()),
            until(deadline, templates),
        );
        // The future is boxed because it is large.
        let lists = Box::pin(join(features, resources)).await;
        let ((tools, prompts), (resources, templates)) = lists;
        Ok(Self {
            tools: unless_lost(tools, upstream, "tools")?,
            prompts: unless_lost(prompts, upstream, "prompts")?,
            resources: unless_lost(resources, upstream, "resources")?,
            templates: unless_lost(templates, upstream, "resource templates")?,
        })
    }
}

/// Kind of features that one list has, or two lists that change together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
    Resources,
}

impl ListKind {
    pub(crate) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    /// Returns true if the features of this kind are the same in both lists.
    pub(crate) fn is_same(self, one: &Lists, other: &Lists) -> bool {
        match self {
            Self::Tools => {
                let refers = one.tools.iter().any(|tool| tool.meta.is_some());
                one.tools == other.tools
                    && one.instructions == other.instructions
                    && (one.listed == other.listed || !refers)
            }
            Self::Prompts => one.prompts == other.prompts && one.completes == other.completes,
            Self::Resources => {
                one.resources == other.resources
                    && one.templates == other.templates
                    && one.interfaces == other.interfaces
                    && one.listed == other.listed
                    && one.completes == other.completes
                    && one.subscribable == other.subscribable
                    && one.has_resources == other.has_resources
            }
        }
    }
}

/// Waits for a list until `deadline`, without the time in which a user signs in.
async fn until<T>(
    mut deadline: Instant,
    list: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    let start = Instant::now();
    let list = timeout_at(&mut deadline, list).await;
    list.unwrap_or_else(|| Err(ClientError::Timeout(start.elapsed())))
}

/// Returns a list, empty if the server does not have it; `None` if it cannot be fetched now. The loss of the connection is an
/// error.
fn unless_lost<T>(
    list: Result<Vec<T>, ClientError>,
    upstream: &Upstream,
    kind: &str,
) -> Result<Option<Vec<T>>, ClientError> {
    match list {
        Ok(list) => Ok(Some(list)),
        Err(error @ (ClientError::Closed(_) | ClientError::Unreachable(_))) => Err(error),
        Err(error) if error.is_unsupported() => Ok(Some(Vec::new())),
        Err(error) => {
            if upstream.list_warnings.is_due() {
                let (server, error) = (&upstream.name, shortened(&error.to_string()));
                tracing::warn!(%server, kind, %error, "a list of a server could not be fetched");
            }
            Ok(None)
        }
    }
}
