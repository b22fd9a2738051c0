//! A client that keeps what its server lists, and follows the changes.

mod builder;
mod follow;
mod headers;
mod list;
mod reads;
mod template;
#[cfg(feature = "validation")]
mod validation;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
#[cfg(feature = "validation")]
use treenail_schema::Revision;
use treenail_schema::{
    CallToolRequest, CallToolResult, GetPromptRequest, ListToolsResult, Prompt, ReadResourceResult,
    Resource, ResourceTemplate, Tool, error_code,
};

pub use self::builder::McpClientBuilder;
use self::follow::Following;
use self::list::{Fetched, Kept, Listed, Source};
use self::reads::Reads;
pub use self::template::UrlTemplate;
#[cfg(feature = "validation")]
use self::validation::{Expected, Validators};
use crate::client::protocol::read;
use crate::client::{ClientError, ClientRequest, McpClientSession, Transport};

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

    /// Calls a tool. The arguments are what serializes to an object, such as a struct, a map or `json!({…})`, or `()` for
    /// none. A tool that fails is no error here, but a result with `isError`.
    ///
    /// With the feature `validation`, the structured content of the result is validated against the tool's output schema,
    /// if the tools have been listed before; the one that was listed last counts. The builder's
    /// `validate_results` says more.
    ///
    /// # Errors
    ///
    /// As [`ClientRequest`]; and [`ClientError::Protocol`] if the result is not what the tool's output schema says, or if
    /// that cannot be used, for then nothing is sent.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        #[cfg(feature = "validation")]
        let expected = self.expected(name)?;
        let result = self.call(name, &arguments).await?;
        #[cfg(feature = "validation")]
        if let Some(expected) = expected {
            expected.check(&result, self.session().limits())?;
        }
        Ok(result)
    }

    async fn call(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        let outcome = self.tool_request(name, arguments).await?.await;
        let Err(ClientError::Refused(error)) = &outcome else {
            return outcome;
        };
        // The headers of the call may have been made from a schema that is out of date.
        if error.code != error_code::HEADER_MISMATCH || !self.mirrors_arguments() {
            return outcome;
        }
        self.refresh_tools().await?;
        self.tool_request(name, arguments).await?.await
    }

    /// What the result of a call has to be, as far as that is known.
    #[cfg(feature = "validation")]
    fn expected(&self, name: &str) -> Result<Option<Expected>, ClientError> {
        // Before this revision, tools had no schema for what they return.
        let has_schemas = self.session().protocol_version() >= Revision::V2025_06_18;
        let list = self.inner.lists.tools.last().filter(|_| has_schemas);
        match (&self.inner.validators, list) {
            (Some(validators), Some(list)) => {
                validators.expected(&list, name, self.session().limits())
            }
            _ => Ok(None),
        }
    }

    /// Calls a tool for what it returns: its structured content, or, where it has none, its text read as JSON or taken as
    /// it is.
    ///
    /// # Errors
    ///
    /// [`ClientError::Tool`] if the tool failed, [`ClientError::Protocol`] if what it returns is no `T`; otherwise as
    /// [`call_tool`](Self::call_tool).
    pub async fn call_tool_as<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<T, ClientError> {
        output_of(self.call_tool(name, arguments).await?)
    }

    /// A call of a tool that can be given options: a timeout, a function that hears of progress, a task of its own. Its
    /// result is not validated.
    ///
    /// # Errors
    ///
    /// When the tools have to be looked up for the call and that fails.
    pub async fn tool_request(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<ClientRequest<CallToolRequest>, ClientError> {
        let request = self.session().tools_call(name, arguments);
        if !self.mirrors_arguments() {
            return Ok(request);
        }
        // The schema that was fetched last says which arguments go into headers.
        let tool = match self.inner.lists.tools.last() {
            Some(tools) => tools.get(name).cloned(),
            None => self.tool(name).await?,
        };
        match tool {
            Some(tool) => Ok(request.with_headers(headers::headers(&tool, arguments)?)),
            None => Ok(request),
        }
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

    /// Ends the connection in an orderly way; see [`McpClientSession::close`].
    ///
    /// # Errors
    ///
    /// When the server could not be told; the connection has ended all the same.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.session().close().await
    }

    /// Fetches the lists that have been fetched before and are not fresh any more.
    async fn refresh_stale(&self) -> Result<(), ClientError> {
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

    /// Whether arguments go into headers.
    fn mirrors_arguments(&self) -> bool {
        let session = self.session();
        session.session().transport() == Transport::Http && session.protocol_version().is_modern()
    }
}

macro_rules! sources {
    ($($name:ident: $capability:ident, $changes:ident, $method:ident -> $result:ty;)*) => {$(
        impl McpClient {
            /// Where the list comes from, if the server has one.
            fn $name(
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
                        let page = session.$method(cursor.as_deref());
                        Box::pin(page.into_future())
                    },
                    changes: &session.changes().$changes,
                    tells_ttl: session.protocol_version().is_modern(),
                    limits: session.limits(),
                })
            }
        }
    )*};
}

type Fetching<T> = std::pin::Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send>>;

sources! {
    prompts_source: prompts, prompts, prompts_list -> treenail_schema::ListPromptsResult;
    resources_source: resources, resources, resources_list -> treenail_schema::ListResourcesResult;
    templates_source: resources, resources, resources_templates_list
        -> treenail_schema::ListResourceTemplatesResult;
}

impl McpClient {
    /// Where the tools come from, if the server has any.
    fn tools_source(
        &self,
    ) -> Option<Source<'_, impl Fn(Option<String>) -> Fetching<ListToolsResult>>> {
        let session = self.session();
        session.server_facts().capabilities.tools.as_ref()?;
        let over_http = self.mirrors_arguments();
        Some(Source {
            fetch: move |cursor: Option<String>| -> Fetching<ListToolsResult> {
                let page = session.tools_list(cursor.as_deref());
                Box::pin(async move {
                    let mut page = page.await?;
                    if over_http {
                        page.tools = headers::without_wrong(page.tools);
                    }
                    Ok(page)
                })
            },
            changes: &session.changes().tools,
            tells_ttl: session.protocol_version().is_modern(),
            limits: session.limits(),
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
    A: Future<Output = Result<P, ClientError>>,
    P: Into<list::Page<T>>,
{
    if let Some(source) = source {
        let fetched: Arc<Fetched<T>> = kept.refresh(source).await?;
        tracing::debug!(items = fetched.items.len(), "a list was fetched");
    }
    Ok(())
}

/// What a tool has returned, as a type.
pub(in crate::client) fn output_of<T: DeserializeOwned>(
    mut result: CallToolResult,
) -> Result<T, ClientError> {
    if result.is_error == Some(true) {
        return Err(ClientError::Tool(Box::new(result)));
    }
    let unfit = |error: serde_json::Error| {
        ClientError::protocol(format!("the output of the tool has another form: {error}"))
    };
    if let Some(structured) = result.structured_content.take() {
        return serde_json::from_value(structured).map_err(unfit);
    }
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let text = texts.collect::<Vec<_>>().join("\n");
    match serde_json::from_str(&text) {
        Ok(output) => Ok(output),
        // A text that is no JSON is the output if a text is wanted.
        Err(error) => serde_json::from_value(Value::String(text)).map_err(|_| unfit(error)),
    }
}
