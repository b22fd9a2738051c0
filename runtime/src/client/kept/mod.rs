//! A client that keeps what its server lists, and follows the changes.

mod builder;
mod call;
mod follow;
mod headers;
mod list;
mod reads;
mod record;
mod sizes;
mod sources;
mod template;
#[cfg(feature = "validation")]
pub(crate) mod validation;

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use treenail_schema::{
    GetPromptRequest, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};

pub use self::builder::McpClientBuilder;
use self::follow::Following;
use self::list::Kept;
use self::reads::Reads;
use self::sizes::Sizes;
pub use self::template::UrlTemplate;
#[cfg(feature = "validation")]
use self::validation::Validators;
use crate::client::protocol::read;
use crate::client::{ClientError, ClientRequest, Drift, McpClientSession};

/// A client that keeps the lists of its server, and fetches them anew when they are used and are not fresh any more: when
/// the server has told of a change, when the time that it gave is over (`ttlMs`), or when [`refresh_all`](Self::refresh_all)
/// or its like is called. A server of the legacy era gives no time; its lists are kept until one of the others happens.
///
/// ```
/// use serde_json::json;
/// use treenail_runtime::Server;
/// use treenail_runtime::client::McpClient;
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
/// It is cheap to clone; the clones share everything. When the last one is dropped, the connection is closed in the
/// background; [`close`](Self::close) lets one wait for that.
#[derive(Clone, Debug)]
pub struct McpClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    session: Arc<McpClientSession>,
    lists: Lists,
    /// Unless results are not validated.
    #[cfg(feature = "validation")]
    validators: Option<Validators>,
    /// How the server differed from its contract when it was met, if it has one.
    drift: OnceLock<Drift>,
    /// The task that follows changes, which ends with the client.
    _following: Option<Following>,
}

#[derive(Debug, Default)]
struct Lists {
    tools: Kept<Tool>,
    prompts: Kept<Prompt>,
    resources: Kept<Resource>,
    templates: Kept<ResourceTemplate>,
    reads: Reads,
    sizes: Sizes,
}

impl McpClient {
    /// Says what to connect to, and how.
    pub fn builder() -> McpClientBuilder {
        McpClientBuilder::default()
    }

    /// A client over a session that has begun already. It follows the changes that the session is told of, and asks for
    /// them in the modern era.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, if the server tells of changes.
    pub fn new(session: Arc<McpClientSession>) -> Self {
        builder::over(
            session,
            follow::Follow::default(),
            #[cfg(feature = "validation")]
            Some(Validators::default()),
        )
    }

    /// The session that this client keeps the lists of.
    pub fn session(&self) -> &Arc<McpClientSession> {
        &self.inner.session
    }

    /// All tools, in the order of the server.
    ///
    /// Over HTTP, tools are left out whose `x-mcp-header` breaks the rules of the protocol.
    pub async fn tools(&self) -> Result<Vec<Arc<Tool>>, ClientError> {
        let Some(source) = self.tools_source() else {
            return Ok(Vec::new());
        };
        Ok(self.inner.lists.tools.get(source).await?.items.clone())
    }

    /// The tool with this name, if there is one.
    pub async fn tool(&self, name: &str) -> Result<Option<Arc<Tool>>, ClientError> {
        let Some(source) = self.tools_source() else {
            return Ok(None);
        };
        Ok(self.inner.lists.tools.get(source).await?.get(name).cloned())
    }

    /// Counts the changes of its tools that the server has told of.
    pub(crate) fn tools_version(&self) -> u64 {
        self.session().changes().tools.load(Ordering::Acquire)
    }

    /// All prompts, in the order of the server.
    pub async fn prompts(&self) -> Result<Vec<Arc<Prompt>>, ClientError> {
        let Some(source) = self.prompts_source() else {
            return Ok(Vec::new());
        };
        Ok(self.inner.lists.prompts.get(source).await?.items.clone())
    }

    /// The prompt with this name, if there is one.
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

    /// The messages of a prompt. The arguments are what serializes to an object of texts, or `()` for none.
    pub fn get_prompt(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> ClientRequest<GetPromptRequest> {
        self.session().prompts_get(name, arguments)
    }

    /// All resources, in the order of the server.
    pub async fn resources(&self) -> Result<Vec<Arc<Resource>>, ClientError> {
        let Some(source) = self.resources_source() else {
            return Ok(Vec::new());
        };
        Ok(self.inner.lists.resources.get(source).await?.items.clone())
    }

    /// The resource with this URI, if it is listed.
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

    /// Reads the resource at a URI, or takes what was read before for as long as the server allows.
    pub async fn read_resource(&self, uri: &str) -> Result<Arc<ReadResourceResult>, ClientError> {
        let changes = self.session().changes();
        let changes = changes.updates.load(Ordering::Acquire);
        let reads = &self.inner.lists.reads;
        if let Some(kept) = reads.get(uri, changes) {
            return Ok(kept);
        }
        let finished = self.session().resources_read(uri).finish().await?;
        let result: Arc<ReadResourceResult> = Arc::new(read(&finished.text)?);
        if !finished.was_asked {
            reads.keep(uri, &result, changes, self.session().limits());
        }
        Ok(result)
    }

    /// All templates for URIs, in the order of the server.
    pub async fn url_templates(&self) -> Result<Vec<UrlTemplate>, ClientError> {
        let Some(source) = self.templates_source() else {
            return Ok(Vec::new());
        };
        let list = self.inner.lists.templates.get(source).await?;
        let templates = list.items.iter().map(|listed| UrlTemplate::new(listed));
        Ok(templates.collect())
    }

    /// The template for URIs with this name, if there is one.
    pub async fn url_template(&self, name: &str) -> Result<Option<UrlTemplate>, ClientError> {
        let Some(source) = self.templates_source() else {
            return Ok(None);
        };
        let list = self.inner.lists.templates.get(source).await?;
        Ok(list.get(name).map(|listed| UrlTemplate::new(listed)))
    }

    /// Ends the connection in an orderly way; see [`McpClientSession::close`].
    ///
    /// # Errors
    ///
    /// When the server could not be told; the connection has ended all the same.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.session().close().await
    }
}
