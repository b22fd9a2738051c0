//! Where the lists come from, and how they are fetched anew.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use treenail_schema::{
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    ListToolsResult, Request,
};

use crate::client::kept::list::{Fetched, Kept, Listed, Page, Source, Weighed};
use crate::client::kept::sizes::Kind;
use crate::client::kept::{McpClient, headers};
use crate::client::protocol::read;
use crate::client::{ClientError, ClientRequest};
use crate::wire::weight;

impl McpClient {
    /// Fetches the tools anew.
    pub async fn refresh_tools(&self) -> Result<(), ClientError> {
        refresh(&self.inner.lists.tools, self.tools_source()).await
    }

    /// Fetches the prompts anew.
    pub async fn refresh_prompts(&self) -> Result<(), ClientError> {
        refresh(&self.inner.lists.prompts, self.prompts_source()).await
    }

    /// Fetches the list of the resources anew.
    pub async fn refresh_resources(&self) -> Result<(), ClientError> {
        refresh(&self.inner.lists.resources, self.resources_source()).await
    }

    /// Fetches the templates for URIs anew.
    pub async fn refresh_url_templates(&self) -> Result<(), ClientError> {
        refresh(&self.inner.lists.templates, self.templates_source()).await
    }

    /// Fetches all lists anew.
    pub async fn refresh_all(&self) -> Result<(), ClientError> {
        self.refresh_tools().await?;
        self.refresh_prompts().await?;
        self.refresh_resources().await?;
        self.refresh_url_templates().await
    }

    /// Methods of lists that the server has declared and does not know, of those that have been fetched. Such a list is
    /// taken to be empty.
    pub fn missing_lists(&self) -> Vec<&'static str> {
        let lists = &self.inner.lists;
        let tools = lists.tools.last().is_some_and(|it| it.missing);
        let prompts = lists.prompts.last().is_some_and(|it| it.missing);
        let resources = lists.resources.last().is_some_and(|it| it.missing);
        let templates = lists.templates.last().is_some_and(|it| it.missing);
        let all = [
            (tools, ListToolsRequest::METHOD),
            (prompts, ListPromptsRequest::METHOD),
            (resources, ListResourcesRequest::METHOD),
            (templates, ListResourceTemplatesRequest::METHOD),
        ];
        let missing = all.into_iter().filter(|(missing, _)| *missing);
        missing.map(|(_, method)| method).collect()
    }

    /// Fetches the lists that have been fetched before and are not fresh any more.
    pub(super) async fn refresh_stale(&self) -> Result<(), ClientError> {
        let lists = &self.inner.lists;
        if lists.tools.last().is_some() {
            self.tools().await?;
        }
        if lists.prompts.last().is_some() {
            self.prompts().await?;
        }
        if lists.resources.last().is_some() {
            self.resources().await?;
        }
        if lists.templates.last().is_some() {
            self.url_templates().await?;
        }
        Ok(())
    }
}

macro_rules! sources {
    ($($name:ident: $kind:ident, $capability:ident, $changes:ident, $method:ident, $request:ty;)*) => {$(
        impl McpClient {
            /// Where the list comes from, if the server has one.
            pub(super) fn $name(
                &self,
            ) -> Option<
                Source<
                    '_,
                    impl Fn(Option<String>) -> Fetching<<$request as Request>::Result>,
                >,
            > {
                let session = self.session();
                session.peer_info().capabilities.$capability.as_ref()?;
                Some(Source {
                    method: <$request as Request>::METHOD,
                    declared: true,
                    fetch: move |cursor: Option<String>| -> Fetching<<$request as Request>::Result> {
                        Box::pin(weighed(session.$method(cursor.as_deref())))
                    },
                    changes: &session.changes().$changes,
                    tells_ttl: session.protocol_version().is_modern(),
                    limits: session.limits(),
                    kind: Kind::$kind,
                    sizes: &self.inner.lists.sizes,
                })
            }
        }
    )*};
}

pub(super) type Fetching<T> = Pin<Box<dyn Future<Output = Result<Weighed<T>, ClientError>> + Send>>;

/// Fetches a page and weighs it.
async fn weighed<R>(request: ClientRequest<R>) -> Result<Weighed<R::Result>, ClientError>
where
    R: Request,
    R::Result: DeserializeOwned,
{
    let finished = request.finish().await?;
    Ok(Weighed {
        bytes: weight(&finished.text),
        page: read(&finished.text)?,
    })
}

sources! {
    prompts_source: Prompts, prompts, prompts, prompts_list, ListPromptsRequest;
    resources_source: Resources, resources, resources, resources_list, ListResourcesRequest;
    templates_source: Templates, resources, resources, resources_templates_list, ListResourceTemplatesRequest;
}

impl McpClient {
    /// Where the tools come from, if the server has any. One that declares nothing at all is tried: there are servers that
    /// forget to.
    pub(super) fn tools_source(
        &self,
    ) -> Option<Source<'_, impl Fn(Option<String>) -> Fetching<ListToolsResult>>> {
        let session = self.session();
        let facts = session.peer_info();
        let declared = facts.capabilities.tools.is_some();
        if !declared && !facts.declares_nothing() {
            return None;
        }
        let over_http = self.mirrors_arguments();
        Some(Source {
            method: ListToolsRequest::METHOD,
            declared,
            fetch: move |cursor: Option<String>| -> Fetching<ListToolsResult> {
                let page = session.tools_list(cursor.as_deref());
                Box::pin(async move {
                    let mut fetched = weighed(page).await?;
                    if over_http {
                        let tools = std::mem::take(&mut fetched.page.tools);
                        fetched.page.tools = headers::without_wrong(tools);
                    }
                    Ok(fetched)
                })
            },
            changes: &session.changes().tools,
            tells_ttl: session.protocol_version().is_modern(),
            limits: session.limits(),
            kind: Kind::Tools,
            sizes: &self.inner.lists.sizes,
        })
    }
}

async fn refresh<T, F, A, P>(
    kept: &Kept<T>,
    source: Option<Source<'_, F>>,
) -> Result<(), ClientError>
where
    T: Listed,
    F: Fn(Option<String>) -> A,
    A: Future<Output = Result<Weighed<P>, ClientError>>,
    P: Into<Page<T>>,
{
    if let Some(source) = source {
        let fetched: Arc<Fetched<T>> = kept.refresh(source).await?;
        tracing::debug!(items = fetched.items.len(), "a list was fetched");
    }
    Ok(())
}
