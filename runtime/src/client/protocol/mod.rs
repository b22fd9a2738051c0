//! Typed requests of the protocol, from the view of a client.

mod answering;
mod broadcast;
mod builder;
mod changes;
mod checked_handler;
mod discovery;
mod extension_request;
mod extensions;
mod handler;
mod handshake;
mod inner;
mod input_required;
mod meta;
mod observed;
mod options;
mod params;
mod prepared_request;
mod probe;
mod progress;
mod queue;
mod request;
mod result;
mod router;
mod server_info;
mod subscribed_uris;
mod subscription;
mod target;
mod task;
mod task_driver;
mod task_status;

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use treenail_schema::{
    CallToolRequest, ClientCapabilities, CompleteRequest, CompleteRequestParams, DiscoverRequest,
    GetPromptRequest, Implementation, JsonObject, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, LoggingLevel, Notification, PingRequest,
    ReadResourceRequest, Request, Revision, ServerCapabilities, SetLevelRequest, SubscribeRequest,
    SubscriptionFilter, UnsubscribeRequest,
};

pub use self::broadcast::{Notifications, ServerNotification};
pub use self::builder::McpClientSessionBuilder;
#[cfg(feature = "http-client")]
pub use self::builder::with_http_target;
pub use self::extension_request::ExtensionRequest;
pub use self::handler::{ClientHandler, HandlerFuture};
pub(in crate::client) use self::inner::Inner;
pub(in crate::client) use self::input_required::CompleteResult;
use self::params::{Params, serialize};
pub(in crate::client) use self::prepared_request::PreparedRequest;
pub use self::progress::{ProgressStream, progress_bytes};
pub use self::request::ClientRequest;
pub(in crate::client) use self::result::{read_call_result, read_result};
pub use self::server_info::PeerInfo;
pub use self::subscription::Subscription;
#[cfg(feature = "http-client")]
pub use self::target::{HttpOptions, HttpTarget};
pub use self::task_driver::{CreatedTask, StatusSink, TaskDriver, TaskFuture};
use crate::client::{ClientError, ClientLimits, Session, SessionNotification};

/// A session with one server, with a method for each request of the protocol. It caches nothing; for cached lists that
/// follow changes of the server, use [`McpClient`](crate::client::McpClient).
///
/// ```
/// use serde_json::json;
/// use treenail::Server;
/// use treenail::client::McpClientSession;
///
/// # async fn example(server: Server) -> Result<(), Box<dyn std::error::Error>> {
/// let session = McpClientSession::builder().server(&server).build().await?;
/// let tools = session.tools_list(None).await?.tools;
/// let result = session.tools_call("add", json!({"a": 1, "b": 2})).await?;
/// session.close().await?;
/// # Ok(())
/// # }
/// ```
///
/// Each method returns a [`ClientRequest`], which is sent when it is awaited. If the server's revision or capabilities do not
/// cover the method, the request fails with [`ClientError::Unsupported`] and is not sent.
///
/// Dropping the session without [`close`](Self::close) closes the connection in the background.
#[derive(Debug)]
pub struct McpClientSession {
    pub(in crate::client) inner: Arc<Inner>,
}

impl McpClientSession {
    /// Returns a builder of a session.
    pub fn builder() -> McpClientSessionBuilder {
        McpClientSessionBuilder::default()
    }

    /// Returns the negotiated revision.
    pub fn protocol_version(&self) -> Revision {
        self.inner.peer().revision
    }

    /// Returns the capabilities that the server has declared.
    pub fn server_capabilities(&self) -> ServerCapabilities {
        self.inner.peer().capabilities.clone()
    }

    /// Returns the server's name and version, as it reports them. They are meant for display, not for decisions.
    pub fn server_info(&self) -> Option<Implementation> {
        self.inner.peer().info.clone()
    }

    /// Returns the instructions for a model that uses the server.
    pub fn instructions(&self) -> Option<String> {
        self.inner.peer().instructions.clone()
    }

    /// Returns the capabilities that the client declares.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        self.inner.link.router.handler.capabilities()
    }

    /// Returns the complete description of the server.
    pub fn peer_info(&self) -> Arc<PeerInfo> {
        self.inner.peer()
    }

    /// Returns the underlying session.
    pub fn session(&self) -> &Arc<dyn Session> {
        &self.inner.link.session
    }

    /// `tools/list`: one page of the tools, the first one without a cursor.
    pub fn tools_list(&self, cursor: Option<&str>) -> ClientRequest<ListToolsRequest> {
        ClientRequest::new(&self.inner, Params::page(cursor))
    }

    /// `tools/call`. The arguments must serialize to an object, such as a struct, a map or `json!({…})`; `()` sends none.
    pub fn tools_call(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> ClientRequest<CallToolRequest> {
        ClientRequest::new(&self.inner, Params::named(name, &arguments))
    }

    /// `prompts/list`: one page of the prompts, the first one without a cursor.
    pub fn prompts_list(&self, cursor: Option<&str>) -> ClientRequest<ListPromptsRequest> {
        ClientRequest::new(&self.inner, Params::page(cursor))
    }

    /// `prompts/get`. The arguments must serialize to an object; `()` sends none. They are strings in the protocol, so other
    /// values are sent as the text of their JSON, and those that are `None` are omitted.
    pub fn prompts_get(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> ClientRequest<GetPromptRequest> {
        ClientRequest::new(&self.inner, Params::named_texts(name, &arguments))
    }

    /// `resources/list`: one page of the resources, the first one without a cursor.
    pub fn resources_list(&self, cursor: Option<&str>) -> ClientRequest<ListResourcesRequest> {
        ClientRequest::new(&self.inner, Params::page(cursor))
    }

    /// `resources/templates/list`: one page of the resource templates, the first one without a cursor.
    pub fn resources_templates_list(
        &self,
        cursor: Option<&str>,
    ) -> ClientRequest<ListResourceTemplatesRequest> {
        ClientRequest::new(&self.inner, Params::page(cursor))
    }

    /// `resources/read`.
    pub fn resources_read(&self, uri: &str) -> ClientRequest<ReadResourceRequest> {
        ClientRequest::new(&self.inner, Params::new(&json!({ "uri": uri })))
    }

    /// `resources/subscribe` (legacy era): subscribes to changes of a resource. In the modern era, use
    /// [`subscriptions_listen`](Self::subscriptions_listen); in both,
    /// [`McpClient::resource_updates`](crate::client::McpClient::resource_updates).
    pub fn resources_subscribe(&self, uri: &str) -> ClientRequest<SubscribeRequest> {
        ClientRequest::new(&self.inner, Params::new(&json!({ "uri": uri })))
    }

    /// `resources/unsubscribe` (legacy era).
    pub fn resources_unsubscribe(&self, uri: &str) -> ClientRequest<UnsubscribeRequest> {
        ClientRequest::new(&self.inner, Params::new(&json!({ "uri": uri })))
    }

    /// `completion/complete`: completions for an argument of a prompt or a variable of a resource template.
    pub fn completion_complete(
        &self,
        params: &CompleteRequestParams,
    ) -> ClientRequest<CompleteRequest> {
        ClientRequest::new(&self.inner, Params::new(&params))
    }

    /// `logging/setLevel` (legacy era): sets the minimum level of log messages. In the modern era the level is set for each
    /// request, see [`ClientRequest::log_level`].
    pub fn logging_set_level(&self, level: LoggingLevel) -> ClientRequest<SetLevelRequest> {
        ClientRequest::new(&self.inner, Params::new(&json!({ "level": level })))
    }

    /// `ping` (legacy era): checks that the server responds.
    pub fn ping(&self) -> ClientRequest<PingRequest> {
        ClientRequest::new(&self.inner, Params::page(None))
    }

    /// `server/discover` (modern era): the current description of the server.
    pub fn server_discover(&self) -> ClientRequest<DiscoverRequest> {
        ClientRequest::new(&self.inner, Params::page(None))
    }

    /// `subscriptions/listen` (modern era): subscribes to the changes that `filter` selects, until the stream is dropped.
    /// Returns when the server has acknowledged the subscription.
    pub async fn subscriptions_listen(
        &self,
        filter: &SubscriptionFilter,
    ) -> Result<Subscription, ClientError> {
        Subscription::open(&self.inner, filter).await
    }

    /// Sends any request. `_meta` is added to the parameters.
    pub fn request<R: Request>(&self, params: impl Serialize) -> ClientRequest<R> {
        ClientRequest::new(&self.inner, Params::new(&params))
    }

    /// Returns the settings with which the server has declared the extension `id`, unchanged. `None` if it has not.
    pub fn server_extension(&self, id: &str) -> Option<JsonObject> {
        let peer = self.inner.peer();
        peer.capabilities.extensions.as_ref()?.get(id).cloned()
    }

    /// Sends a request for a `method` of an `extension`, which the server must have declared. The parameters serialize to an
    /// object; `_meta` is added. `R` is read from the whole result.
    ///
    /// The server may expect that the client has declared the extension too, see [`extension`](McpClientSessionBuilder::extension).
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use treenail::client::{ClientError, McpClientSession};
    ///
    /// # async fn example(session: &McpClientSession) -> Result<(), ClientError> {
    /// let params = json!({"text": "Good morning"});
    /// let translated: Value = session
    ///     .extension_request("com.example/translation", "translation/translate", &params)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn extension_request<R>(
        &self,
        extension: &str,
        method: &str,
        params: impl Serialize,
    ) -> ExtensionRequest<R> {
        ExtensionRequest::new(&self.inner, (extension, method), &params)
    }

    /// Sends any notification, such as `notifications/roots/list_changed` in the legacy era.
    ///
    /// # Errors
    ///
    /// If the parameters cannot be serialized, or the connection is closed.
    pub async fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), ClientError> {
        let params = serialize(params)?;
        let mut notification = SessionNotification::new(N::METHOD, params);
        notification.revision = Some(self.protocol_version());
        self.inner.link.session.notify(notification).await
    }

    pub(crate) fn limits(&self) -> &ClientLimits {
        &self.inner.link.limits
    }

    /// Closes the connection gracefully: pending requests fail with [`ClientError::Closed`], and a child process is stopped and waited for.
    ///
    /// # Errors
    ///
    /// If the server could not be notified. The connection is closed anyway.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.inner.link.session.close().await
    }
}
