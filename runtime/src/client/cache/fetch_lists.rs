//! Sources of the lists, and their refresh.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::Instant;
use treenail_schema::{
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    ListToolsResult, Request,
};

use crate::client::cache::list::{CachedList, ListSource, Snapshot};
use crate::client::cache::list_sizes::ListKind;
use crate::client::cache::page::{ListItem, Page, SizedPage};
use crate::client::cache::{McpClient, headers};
use crate::client::protocol::read_result;
use crate::client::{ClientError, ClientRequest};
use crate::wire::weight;

impl McpClient {
    /// Returns the number of change notifications for the tools so far.
    pub(crate) fn tools_version(&self) -> u64 {
        self.session().changes().tools.load(Ordering::Acquire)
    }

    /// Fetches the tools again.
    pub async fn refresh_tools(&self) -> Result<(), ClientError> {
        refresh_list(&self.inner.lists.tools, self.tools_source()).await
    }

    /// Fetches the prompts again.
    pub async fn refresh_prompts(&self) -> Result<(), ClientError> {
        refresh_list(&self.inner.lists.prompts, self.prompts_source()).await
    }

    /// Fetches the list of resources again.
    pub async fn refresh_resources(&self) -> Result<(), ClientError> {
        refresh_list(&self.inner.lists.resources, self.resources_source()).await
    }

    /// Fetches the URI templates again.
    pub async fn refresh_url_templates(&self) -> Result<(), ClientError> {
        refresh_list(&self.inner.lists.templates, self.templates_source()).await
    }

    /// Fetches all lists again.
    pub async fn refresh_all(&self) -> Result<(), ClientError> {
        self.refresh_tools().await?;
        self.refresh_prompts().await?;
        self.refresh_resources().await?;
        self.refresh_url_templates().await
    }

    /// Returns the methods of the fetched lists that the server declares but does not implement. The client treats such
    /// a list as empty.
    pub fn missing_lists(&self) -> Vec<&'static str> {
        let lists = &self.inner.lists;
        let tools = lists.tools.latest().is_some_and(|it| it.missing);
        let prompts = lists.prompts.latest().is_some_and(|it| it.missing);
        let resources = lists.resources.latest().is_some_and(|it| it.missing);
        let templates = lists.templates.latest().is_some_and(|it| it.missing);
        let all = [
            (tools, ListToolsRequest::METHOD),
            (prompts, ListPromptsRequest::METHOD),
            (resources, ListResourcesRequest::METHOD),
            (templates, ListResourceTemplatesRequest::METHOD),
        ];
        let missing = all.into_iter().filter(|(missing, _)| *missing);
        missing.map(|(_, method)| method).collect()
    }

    /// Returns the time of the next periodic fetch of a list: shortly after the first of the fetched lists expires by its TTL, which
    /// counts as at least `min`. `None` if no list has a TTL above zero.
    pub(crate) fn next_list_fetch(&self, min: Duration) -> Option<Instant> {
        let lists = &self.inner.lists;
        let all = [
            lists.tools.latest().and_then(|list| list.next_fetch(min)),
            lists.prompts.latest().and_then(|list| list.next_fetch(min)),
            lists
                .resources
                .latest()
                .and_then(|list| list.next_fetch(min)),
            lists
                .templates
                .latest()
                .and_then(|list| list.next_fetch(min)),
        ];
        all.into_iter().flatten().min()
    }

    /// Returns true if the server has changed a list since it was fetched.
    pub(super) fn has_changed_lists(&self) -> bool {
        self.changed_lists().contains(&true)
    }

    /// Fetches again all lists that the server has changed since they were fetched.
    pub(super) async fn refresh_changed(&self) -> Result<(), ClientError> {
        let [tools, prompts, resources, templates] = self.changed_lists();
        if tools {
            self.tools().await?;
        }
        if prompts {
            self.prompts().await?;
        }
        if resources {
            self.resources().await?;
        }
        if templates {
            self.url_templates().await?;
        }
        Ok(())
    }

    fn changed_lists(&self) -> [bool; 4] {
        let (lists, changes) = (&self.inner.lists, self.session().changes());
        [
            lists.tools.is_changed(&changes.tools),
            lists.prompts.is_changed(&changes.prompts),
            lists.resources.is_changed(&changes.resources),
            lists.templates.is_changed(&changes.resources),
        ]
    }
}

macro_rules! list_sources {
    ($($name:ident: $kind:ident, $capability:ident, $changes:ident, $method:ident, $request:ty;)*) => {$(
        impl McpClient {
            /// Returns the source of the list, if the server has one.
            pub(super) fn $name(
                &self,
            ) -> Option<
                ListSource<
                    '_,
                    impl Fn(Option<String>) -> PageFuture<<$request as Request>::Result>,
                >,
            > {
                let session = self.session();
                session.peer_info().capabilities.$capability.as_ref()?;
                Some(ListSource {
                    method: <$request as Request>::METHOD,
                    declared: true,
                    fetch: move |cursor: Option<String>| -> PageFuture<<$request as Request>::Result> {
                        Box::pin(fetch_page(session.$method(cursor.as_deref())))
                    },
                    changes: &session.changes().$changes,
                    is_from_handler: session.is_in_handler(),
                    sends_ttl: session.protocol_version().is_modern(),
                    limits: session.limits(),
                    kind: ListKind::$kind,
                    sizes: &self.inner.lists.sizes,
                })
            }
        }
    )*};
}

pub(super) type PageFuture<T> =
    Pin<Box<dyn Future<Output = Result<SizedPage<T>, ClientError>> + Send>>;

/// Fetches a page and estimates its size in memory.
async fn fetch_page<R>(request: ClientRequest<R>) -> Result<SizedPage<R::Result>, ClientError>
where
    R: Request,
    R::Result: DeserializeOwned,
{
    let finished = request.prepared.send().await?;
    Ok(SizedPage {
        bytes: weight(&finished.text),
        page: read_result::<R>(&finished.text, || request.prepared.revision())?,
    })
}

list_sources! {
    prompts_source: Prompts, prompts, prompts, prompts_list, ListPromptsRequest;
    resources_source: Resources, resources, resources, resources_list, ListResourcesRequest;
    templates_source: Templates, resources, resources, resources_templates_list, ListResourceTemplatesRequest;
}

impl McpClient {
    /// Returns the source of the tools, if the server has any. A server that declares no capabilities at all is tried
    /// once, because some servers omit the declaration.
    pub(super) fn tools_source(
        &self,
    ) -> Option<ListSource<'_, impl Fn(Option<String>) -> PageFuture<ListToolsResult>>> {
        let session = self.session();
        let info = session.peer_info();
        let declared = info.capabilities.tools.is_some();
        if !declared && !info.declares_nothing() {
            return None;
        }
        let over_http = self.sends_header_arguments();
        Some(ListSource {
            method: ListToolsRequest::METHOD,
            declared,
            fetch: move |cursor: Option<String>| -> PageFuture<ListToolsResult> {
                let request = session.tools_list(cursor.as_deref());
                Box::pin(async move {
                    let mut fetched = fetch_page(request).await?;
                    if over_http {
                        let tools = std::mem::take(&mut fetched.page.tools);
                        fetched.page.tools = headers::drop_invalid_tools(tools);
                    }
                    Ok(fetched)
                })
            },
            changes: &session.changes().tools,
            is_from_handler: session.is_in_handler(),
            sends_ttl: session.protocol_version().is_modern(),
            limits: session.limits(),
            kind: ListKind::Tools,
            sizes: &self.inner.lists.sizes,
        })
    }
}

async fn refresh_list<T, F, A, P>(
    list: &CachedList<T>,
    source: Option<ListSource<'_, F>>,
) -> Result<(), ClientError>
where
    T: ListItem,
    F: Fn(Option<String>) -> A,
    A: Future<Output = Result<SizedPage<P>, ClientError>>,
    P: Into<Page<T>>,
{
    if let Some(source) = source {
        let snapshot: Arc<Snapshot<T>> = list.refresh(source).await?;
        tracing::debug!(items = snapshot.items.len(), "fetched a list");
    }
    Ok(())
}
