//! The protocol as a client speaks it: each request, typed.

mod answer;
mod builder;
mod core;
mod facts;
mod feed;
mod greet;
mod handler;
mod offer;
mod progress;
mod queue;
mod request;
mod result;
mod rounds;
mod router;
mod subscription;
mod text;

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use treenail_schema::{
    CallToolRequest, ClientCapabilities, CompleteRequest, CompleteRequestParams, DiscoverRequest,
    GetPromptRequest, Implementation, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, LoggingLevel, Notification, PingRequest,
    ReadResourceRequest, Request, Revision, ServerCapabilities, SetLevelRequest, SubscribeRequest,
    SubscriptionFilter, UnsubscribeRequest,
};

pub use self::builder::McpClientSessionBuilder;
pub(in crate::client) use self::core::Core;
pub use self::facts::PeerInfo;
pub use self::feed::{Notifications, ServerNotification};
pub use self::handler::{ClientHandler, HandlerFuture};
pub use self::progress::ProgressStream;
pub use self::request::ClientRequest;
pub(in crate::client) use self::result::read;
pub(in crate::client) use self::router::Changes;
pub use self::subscription::Subscription;
use self::text::{Head, write};
use crate::client::{ClientError, ClientLimits, Session, SessionNotification};

/// A session with one server, with a method for each request of the protocol. It keeps nothing of what it is told; for
/// lists that are kept and followed there is [`McpClient`](crate::client::McpClient).
///
/// ```
/// use serde_json::json;
/// use treenail_runtime::Server;
/// use treenail_runtime::client::McpClientSession;
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
/// Each method returns a [`ClientRequest`], which is sent when it is awaited. A method that the server's revision does not
/// have, or for which the server has not declared the capability, fails with [`ClientError::Unsupported`] and is not sent.
///
/// One that is dropped without [`close`](Self::close) closes the connection too, in the background.
#[derive(Debug)]
pub struct McpClientSession {
    pub(in crate::client) core: Arc<Core>,
}

impl McpClientSession {
    /// Says what to connect to, and how.
    pub fn builder() -> McpClientSessionBuilder {
        McpClientSessionBuilder::default()
    }

    /// The revision that is spoken.
    pub fn protocol_version(&self) -> Revision {
        self.core.facts().revision
    }

    /// What the server can do.
    pub fn server_capabilities(&self) -> ServerCapabilities {
        self.core.facts().capabilities.clone()
    }

    /// The server's name and version, as it gives them. They are for showing, not for decisions.
    pub fn server_info(&self) -> Option<Implementation> {
        self.core.facts().info.clone()
    }

    /// How a model should use the server.
    pub fn instructions(&self) -> Option<String> {
        self.core.facts().instructions.clone()
    }

    /// The capabilities that the client declares.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        self.core.router.answers.capabilities()
    }

    /// All that is known of the server.
    pub fn peer_info(&self) -> Arc<PeerInfo> {
        self.core.facts()
    }

    /// What carries the messages.
    pub fn session(&self) -> &Arc<dyn Session> {
        &self.core.session
    }

    /// `tools/list`: one page of the tools, the first one without a cursor.
    pub fn tools_list(&self, cursor: Option<&str>) -> ClientRequest<ListToolsRequest> {
        ClientRequest::new(&self.core, Head::page(cursor))
    }

    /// `tools/call`. The arguments are what serializes to an object, such as a struct, a map or `json!({…})`, or `()` for
    /// none.
    pub fn tools_call(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> ClientRequest<CallToolRequest> {
        ClientRequest::new(&self.core, Head::named(name, &arguments))
    }

    /// `prompts/list`: one page of the prompts, the first one without a cursor.
    pub fn prompts_list(&self, cursor: Option<&str>) -> ClientRequest<ListPromptsRequest> {
        ClientRequest::new(&self.core, Head::page(cursor))
    }

    /// `prompts/get`. The arguments are what serializes to an object of texts, or `()` for none.
    pub fn prompts_get(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> ClientRequest<GetPromptRequest> {
        ClientRequest::new(&self.core, Head::named(name, &arguments))
    }

    /// `resources/list`: one page of the resources, the first one without a cursor.
    pub fn resources_list(&self, cursor: Option<&str>) -> ClientRequest<ListResourcesRequest> {
        ClientRequest::new(&self.core, Head::page(cursor))
    }

    /// `resources/templates/list`: one page of the templates for URIs, the first one without a cursor.
    pub fn resources_templates_list(
        &self,
        cursor: Option<&str>,
    ) -> ClientRequest<ListResourceTemplatesRequest> {
        ClientRequest::new(&self.core, Head::page(cursor))
    }

    /// `resources/read`.
    pub fn resources_read(&self, uri: &str) -> ClientRequest<ReadResourceRequest> {
        ClientRequest::new(&self.core, Head::new(&json!({ "uri": uri })))
    }

    /// `resources/subscribe` (legacy era): the server tells of changes of the resource from now on. In the modern era
    /// there is [`subscriptions_listen`](Self::subscriptions_listen).
    pub fn resources_subscribe(&self, uri: &str) -> ClientRequest<SubscribeRequest> {
        ClientRequest::new(&self.core, Head::new(&json!({ "uri": uri })))
    }

    /// `resources/unsubscribe` (legacy era).
    pub fn resources_unsubscribe(&self, uri: &str) -> ClientRequest<UnsubscribeRequest> {
        ClientRequest::new(&self.core, Head::new(&json!({ "uri": uri })))
    }

    /// `completion/complete`: the values that the server proposes for an argument of a prompt or a variable of a URI.
    pub fn completion_complete(
        &self,
        params: &CompleteRequestParams,
    ) -> ClientRequest<CompleteRequest> {
        ClientRequest::new(&self.core, Head::new(params))
    }

    /// `logging/setLevel` (legacy era): the least serious log messages that the server sends from now on. In the modern era
    /// each request asks for its own, see [`ClientRequest::log_level`].
    pub fn logging_set_level(&self, level: LoggingLevel) -> ClientRequest<SetLevelRequest> {
        ClientRequest::new(&self.core, Head::new(&json!({ "level": level })))
    }

    /// `ping` (legacy era): whether the server is there.
    pub fn ping(&self) -> ClientRequest<PingRequest> {
        ClientRequest::new(&self.core, Head::page(None))
    }

    /// `server/discover` (modern era): what the server says of itself now.
    pub fn server_discover(&self) -> ClientRequest<DiscoverRequest> {
        ClientRequest::new(&self.core, Head::page(None))
    }

    /// `subscriptions/listen` (modern era): hears of the changes that `filter` names, until the stream is dropped. It is
    /// ready when the server has said what it will tell of.
    pub async fn subscriptions_listen(
        &self,
        filter: &SubscriptionFilter,
    ) -> Result<Subscription, ClientError> {
        Subscription::open(&self.core, filter).await
    }

    /// Any request, with its parameters but without what belongs to every request: `_meta` is added.
    pub fn request<R: Request>(&self, params: &impl Serialize) -> ClientRequest<R> {
        ClientRequest::new(&self.core, Head::new(params))
    }

    /// Any notification, such as `notifications/roots/list_changed` in the legacy era.
    ///
    /// # Errors
    ///
    /// When the parameters cannot be written, or the connection is closed.
    pub async fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), ClientError> {
        let params = write(params)?;
        let mut notification = SessionNotification::new(N::METHOD, params);
        notification.revision = Some(self.protocol_version());
        self.core.session.notify(notification).await
    }

    /// All notifications of the server from now on: log messages, changes, progress, and those of extensions.
    pub fn notifications(&self) -> Notifications {
        self.core.router.notifications()
    }

    pub(in crate::client) fn changes(&self) -> &Changes {
        &self.core.router.changes
    }

    pub(in crate::client) fn limits(&self) -> &ClientLimits {
        &self.core.limits
    }

    /// Ends the connection in an orderly way: what is under way fails with [`ClientError::Closed`], a child process is
    /// ended and waited for.
    ///
    /// # Errors
    ///
    /// When the server could not be told; the connection has ended all the same.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.core.session.close().await
    }
}
