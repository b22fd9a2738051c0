//! Where the lists come from, and how they are fetched anew.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use treenail_schema::{ListToolsResult, Request};

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
    ($($name:ident: $kind:ident, $capability:ident, $changes:ident, $method:ident -> $result:ty;)*) => {$(
        impl McpClient {
            /// Where the list comes from, if the server has one.
            pub(super) fn $name(
                &self,
            ) -> Option<
                Source<
                    '_,
                    impl Fn(Option<String>) -> Fetching<$result>,
                >,
            > {
                let session = self.session();
                session.server_facts().capabilities.$capability.as_ref()?;
                Some(Source {
                    fetch: move |cursor: Option<String>| -> Fetching<$result> {
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
    prompts_source: Prompts, prompts, prompts, prompts_list -> treenail_schema::ListPromptsResult;
    resources_source: Resources, resources, resources, resources_list -> treenail_schema::ListResourcesResult;
    templates_source: Templates, resources, resources, resources_templates_list
        -> treenail_schema::ListResourceTemplatesResult;
}

impl McpClient {
    /// Where the tools come from, if the server has any.
    pub(super) fn tools_source(
        &self,
    ) -> Option<Source<'_, impl Fn(Option<String>) -> Fetching<ListToolsResult>>> {
        let session = self.session();
        session.server_facts().capabilities.tools.as_ref()?;
        let over_http = self.mirrors_arguments();
        Some(Source {
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
