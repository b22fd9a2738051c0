//! Client that caches the lists of its server and watches them for changes.

mod background;
mod builder;
mod call;
#[cfg(feature = "validation")]
mod call_validation;
mod fetch_lists;
mod freshness;
mod headers;
mod list;
mod list_sizes;
mod page;
mod record_contract;
mod renewal;
mod resource_cache;
mod resource_updates;
mod template;
#[cfg(feature = "validation")]
pub(crate) mod validation;
mod watch;

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use treenail_schema::{
    CompleteRequest, CompleteRequestParams, CompletionArgument, CompletionReference,
    GetPromptRequest, JsonObject, Prompt, ReadResourceRequest, ReadResourceResult, Resource,
    ResourceTemplate, Tool,
};

use self::background::Watcher;
pub use self::builder::{McpClientBuilder, with_session_builder};
pub(crate) use self::call::{CallAnswer, StartedCall};
pub use self::headers::HeaderArguments;
use self::list::CachedList;
use self::list_sizes::ListSizes;
use self::resource_cache::ResourceCache;
pub use self::resource_updates::ResourceUpdates;
pub use self::template::UrlTemplate;
#[cfg(feature = "validation")]
use self::validation::ValidatorCache;
use crate::client::protocol::read_result;
use crate::client::{ClientError, ClientRequest, Drift, ExtensionRequest, McpClientSession};
use crate::wire::weight;

/// Client that caches the lists of its server. A list is fetched again when it is used and no longer fresh: after a
/// `list_changed` notification, after its TTL (`ttlMs`), or after a call such as [`refresh_all`](Self::refresh_all). A
/// server of the legacy era sends no TTL, so its lists stay cached until one of the other events.
///
/// ```
/// use serde_json::json;
/// use treenail::Server;
/// use treenail::client::McpClient;
///
/// # async fn example(server: Server) -> Result<(), Box<dyn std::error::Error>> {
/// let client = McpClient::builder().server(&server).auto_refresh(true).build().await?;
/// for tool in client.tools().await? {
///     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
/// }
/// let sum: i64 = client.call_tool_as("add", json!({"a": 1, "b": 2})).await?;
/// # Ok(())
/// # }
/// ```
///
/// Clones are cheap and share everything. Dropping the last one closes the connection in the background;
/// [`close`](Self::close) waits until it is closed.
#[derive(Clone, Debug)]
pub struct McpClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    session: Arc<McpClientSession>,
    lists: Lists,
    /// `None` if results are not validated.
    #[cfg(feature = "validation")]
    validators: Option<ValidatorCache>,
    /// Drift found when connecting, if there is a contract.
    drift: OnceLock<Drift>,
    /// Tasks that watch for changes, aborted with the client. Set once the client exists, because they refer to it.
    watcher: OnceLock<Option<Watcher>>,
}

#[derive(Debug, Default)]
struct Lists {
    tools: CachedList<Tool>,
    prompts: CachedList<Prompt>,
    resources: CachedList<Resource>,
    templates: CachedList<ResourceTemplate>,
    resource_contents: ResourceCache,
    sizes: ListSizes,
}

impl McpClient {
    /// Returns a builder, which selects the server and the options.
    pub fn builder() -> McpClientBuilder {
        McpClientBuilder::default()
    }

    /// Creates a client over an open session. It processes the session's change notifications, and subscribes to them
    /// in the modern era.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, if the server declares `listChanged` for a list.
    pub fn new(session: Arc<McpClientSession>) -> Self {
        builder::client_over(
            session,
            watch::WatchOptions::default(),
            #[cfg(feature = "validation")]
            Some(ValidatorCache::default()),
        )
    }

    /// Returns the underlying session.
    pub fn session(&self) -> &Arc<McpClientSession> {
        &self.inner.session
    }

    /// Returns the settings with which the server has declared the extension `id`, unchanged. `None` if it has not.
    pub fn server_extension(&self, id: &str) -> Option<JsonObject> {
        self.session().server_extension(id)
    }

    /// Sends a request for a `method` of an `extension`; see [`McpClientSession::extension_request`].
    pub fn extension_request<R>(
        &self,
        extension: &str,
        method: &str,
        params: impl Serialize,
    ) -> ExtensionRequest<R> {
        self.session().extension_request(extension, method, params)
    }

    /// Returns all tools, in the order of the server.
    ///
    /// Over HTTP, tools whose `x-mcp-header` breaks the rules of the protocol are omitted, and those with more than 64 such
    /// arguments, or with paths to them of more than 16 KiB together.
    pub async fn tools(&self) -> Result<Vec<Arc<Tool>>, ClientError> {
        let Some(source) = self.tools_source() else {
            return Ok(Vec::new());
        };
        Ok(self.inner.lists.tools.get(source).await?.items.clone())
    }

    /// Returns the tool with this name, if there is one.
    pub async fn tool(&self, name: &str) -> Result<Option<Arc<Tool>>, ClientError> {
        let Some(source) = self.tools_source() else {
            return Ok(None);
        };
        Ok(self.inner.lists.tools.get(source).await?.get(name).cloned())
    }

    /// Returns all prompts, in the order of the server.
    pub async fn prompts(&self) -> Result<Vec<Arc<Prompt>>, ClientError> {
        let Some(source) = self.prompts_source() else {
            return Ok(Vec::new());
        };
        Ok(self.inner.lists.prompts.get(source).await?.items.clone())
    }

    /// Returns the prompt with this name, if there is one.
    pub async fn prompt(&self, name: &str) -> Result<Option<Arc<Prompt>>, ClientError> {
        let Some(source) = self.prompts_source() else {
            return Ok(None);
        };
        Ok(self
            .inner
            .lists
            .prompts
            .get(source)
            .await?
            .get(name)
            .cloned())
    }

    /// Requests the messages of a prompt. The arguments serialize to an object, or are `()` for none; values that are no strings
    /// are sent as the text of their JSON.
    pub fn get_prompt(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> ClientRequest<GetPromptRequest> {
        self.session().prompts_get(name, arguments)
    }

    /// Requests completions for an argument of a prompt or a variable of a resource template, given its text so far. Use
    /// [`completion_complete`](McpClientSession::completion_complete) of the session if other arguments are known.
    ///
    /// ```
    /// use treenail::client::{ClientError, McpClient};
    /// use treenail::schema::PromptReference;
    ///
    /// async fn cities(client: &McpClient) -> Result<Vec<String>, ClientError> {
    ///     let result = client.complete(PromptReference::new("travel.trip"), "city", "Os").await?;
    ///     Ok(result.completion.values)
    /// }
    /// ```
    pub fn complete(
        &self,
        reference: impl Into<CompletionReference>,
        argument: &str,
        typed: &str,
    ) -> ClientRequest<CompleteRequest> {
        let argument = CompletionArgument::new(argument, typed);
        let params = CompleteRequestParams::new(reference, argument);
        self.session().completion_complete(&params)
    }

    /// Returns all resources, in the order of the server.
    pub async fn resources(&self) -> Result<Vec<Arc<Resource>>, ClientError> {
        let Some(source) = self.resources_source() else {
            return Ok(Vec::new());
        };
        Ok(self.inner.lists.resources.get(source).await?.items.clone())
    }

    /// Returns the resource with this URI, if it is listed.
    pub async fn resource(&self, uri: &str) -> Result<Option<Arc<Resource>>, ClientError> {
        let Some(source) = self.resources_source() else {
            return Ok(None);
        };
        Ok(self
            .inner
            .lists
            .resources
            .get(source)
            .await?
            .get(uri)
            .cloned())
    }

    /// Reads the resource at a URI. Returns the cached result while it is fresh.
    pub async fn read_resource(&self, uri: &str) -> Result<Arc<ReadResourceResult>, ClientError> {
        let changes = self.session().changes();
        let changes = changes.updates.load(Ordering::Acquire);
        let cache = &self.inner.lists.resource_contents;
        if let Some(cached) = cache.get(uri, changes) {
            return Ok(cached);
        }
        let finished = self.session().resources_read(uri).prepared.send().await?;
        let revision = || self.session().peer_info().revision;
        let result = Arc::new(read_result::<ReadResourceRequest>(
            &finished.text,
            revision,
        )?);
        if !finished.was_asked {
            let sized = (&result, weight(&finished.text));
            cache.insert(uri, sized, changes, self.session().limits());
        }
        Ok(result)
    }

    /// Subscribes to updates of resources, in both eras. Returns when the server has accepted the subscriptions; only updates after
    /// that are in the stream, so read a resource for the first time when it is open.
    ///
    /// ```
    /// use treenail::client::{ClientError, McpClient};
    ///
    /// async fn follow(client: &McpClient) -> Result<(), ClientError> {
    ///     let mut updates = client.resource_updates(["notes://today"]).await?;
    ///     while let Some(uri) = updates.next().await {
    ///         let note = client.read_resource(&uri?).await?;
    ///         println!("{}", note.as_text().unwrap_or_default());
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] if the server does not report updates of one of the resources, [`ClientError::Invalid`] without
    /// any URI; otherwise those of a request. No resource is subscribed then.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn resource_updates(
        &self,
        uris: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<ResourceUpdates, ClientError> {
        ResourceUpdates::open(self.session(), uris.into_iter().map(Into::into)).await
    }

    /// Closes the connection gracefully; see [`McpClientSession::close`].
    ///
    /// # Errors
    ///
    /// When the server could not be notified; the connection is closed all the same.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.session().close().await
    }
}
