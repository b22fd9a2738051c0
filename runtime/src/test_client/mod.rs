//! A client in the same process, for the tests of a server.

mod answers;
mod builder;
mod exchange;

use serde::Serialize;
use serde_json::{Value, json};
use treenail_schema::{
    CallToolRequest, CallToolResult, CompleteRequest, CompleteRequestParams, CompleteResult,
    DiscoverRequest, DiscoverResult, GetPromptRequest, GetPromptResult, InitializeResult,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    LoggingMessageNotification, LoggingMessageNotificationParams, Notification,
    ProgressNotification, ProgressNotificationParams, Prompt, ReadResourceRequest,
    ReadResourceResult, Request, Resource, ResourceTemplate, Revision, Tool,
};

pub use self::builder::TestClientBuilder;
use self::exchange::{finished, read_as};
use crate::server::Connection;
use crate::test_client::builder::Profile;
use crate::wire::RpcError;

/// [`Server::test_client`](crate::Server::test_client) makes one. What it sends and gets are the messages that any client
/// of its revision would, so a test sees what such a client sees. (What transports add, such as the bound on the length
/// of a message, is not tested.) It asks for progress with every request.
///
/// # Errors
///
/// Each request fails with the [`RpcError`] that the server answers it with. A tool that fails is no such error, but a
/// result with `isError`.
///
/// # Cancellation
///
/// Dropping the future of a request cancels it, as a client does that has lost interest: the function that answers it is
/// dropped.
#[derive(Debug)]
pub struct TestClient {
    connection: Connection,
    profile: Profile,
    last_id: i64,
    /// How many questions of the request have been answered.
    answered: usize,
    initialized: Option<InitializeResult>,
    /// The notifications that nobody has asked for yet: method and params.
    notifications: Vec<(String, Value)>,
}

impl TestClient {
    /// The revision that it speaks.
    pub fn revision(&self) -> Revision {
        self.profile.revision
    }

    /// What the server has said of itself in the handshake of the legacy era.
    pub fn initialize_result(&self) -> Option<&InitializeResult> {
        self.initialized.as_ref()
    }

    /// What the server says of itself in the modern era.
    pub async fn discover(&mut self) -> Result<DiscoverResult, RpcError> {
        self.ask::<DiscoverRequest>(json!({})).await
    }

    /// Whether the server is there, in the legacy era.
    pub async fn ping(&mut self) -> Result<(), RpcError> {
        self.request("ping", json!({})).await.map(drop)
    }

    /// All tools, from all pages of the list.
    pub async fn list_tools(&mut self) -> Result<Vec<Tool>, RpcError> {
        self.pages::<ListToolsRequest, _>(|page| (page.tools, page.next_cursor))
            .await
    }

    /// Calls a tool. The arguments are what serializes to an object, for example `json!({…})`, or `()` for none.
    pub async fn call_tool(
        &mut self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, RpcError> {
        let params = named(name, arguments)?;
        finished(self.ask::<CallToolRequest>(params).await?)
    }

    /// All prompts, from all pages of the list.
    pub async fn list_prompts(&mut self) -> Result<Vec<Prompt>, RpcError> {
        self.pages::<ListPromptsRequest, _>(|page| (page.prompts, page.next_cursor))
            .await
    }

    /// The messages of a prompt. The arguments are what serializes to an object of texts, or `()` for none.
    pub async fn get_prompt(
        &mut self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, RpcError> {
        let params = named(name, arguments)?;
        finished(self.ask::<GetPromptRequest>(params).await?)
    }

    /// All resources, from all pages of the list.
    pub async fn list_resources(&mut self) -> Result<Vec<Resource>, RpcError> {
        self.pages::<ListResourcesRequest, _>(|page| (page.resources, page.next_cursor))
            .await
    }

    /// All templates for URIs, from all pages of the list.
    pub async fn list_resource_templates(&mut self) -> Result<Vec<ResourceTemplate>, RpcError> {
        self.pages::<ListResourceTemplatesRequest, _>(|page| {
            (page.resource_templates, page.next_cursor)
        })
        .await
    }

    /// Reads the resource at a URI.
    pub async fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, RpcError> {
        finished(self.ask::<ReadResourceRequest>(json!({"uri": uri})).await?)
    }

    /// The values that the server proposes for an argument of a prompt or a variable of a URI.
    pub async fn complete(
        &mut self,
        params: CompleteRequestParams,
    ) -> Result<CompleteResult, RpcError> {
        self.ask::<CompleteRequest>(to_json(params)?).await
    }

    /// Sends any request, and returns its result as it is.
    ///
    /// The `_meta` of the revision is added to `params`, where that does not say otherwise. Without
    /// [answers](TestClientBuilder::answer), what a server of the modern era asks is a result like any other.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let result = self.exchange(method, params).await?;
        read_as(&result)
    }

    /// The notifications of one kind that have come since they were asked for last.
    pub fn take_notifications<N: Notification>(&mut self) -> Vec<N::Params> {
        self.receive_outgoing();
        let is_wanted = |(method, _): &(String, Value)| method == N::METHOD;
        let all = std::mem::take(&mut self.notifications).into_iter();
        let (wanted, others): (Vec<_>, Vec<_>) = all.partition(is_wanted);
        self.notifications = others;
        let params = wanted.into_iter().map(|(_, params)| params);
        params
            .filter_map(|params| serde_json::from_value(params).ok())
            .collect()
    }

    /// The progress that has been told since it was asked for last.
    pub fn take_progress(&mut self) -> Vec<ProgressNotificationParams> {
        self.take_notifications::<ProgressNotification>()
    }

    /// The log messages that have come since they were asked for last.
    ///
    /// In the modern era there are some only if [`TestClientBuilder::log_level`] asks for them.
    pub fn take_logs(&mut self) -> Vec<LoggingMessageNotificationParams> {
        self.take_notifications::<LoggingMessageNotification>()
    }

    async fn ask<R: Request>(&mut self, params: Value) -> Result<R::Response, RpcError> {
        let result = self.exchange(R::METHOD, params).await?;
        read_as(&result)
    }

    /// All items of a list, whose pages `split` takes apart.
    async fn pages<R: Request, T>(
        &mut self,
        split: fn(R::Response) -> Page<T>,
    ) -> Result<Vec<T>, RpcError> {
        let mut all = Vec::new();
        let mut params = json!({});
        loop {
            let (items, cursor) = split(self.ask::<R>(params).await?);
            all.extend(items);
            match cursor {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(all),
            }
        }
    }
}

/// The items of a page of a list, and the cursor of the next one.
type Page<T> = (Vec<T>, Option<String>);

/// The params of a request for something by its name; without arguments if these are nothing.
fn named(name: &str, arguments: impl Serialize) -> Result<Value, RpcError> {
    let mut params = json!({"name": name});
    match to_json(arguments)? {
        Value::Null => {}
        arguments => params["arguments"] = arguments,
    }
    Ok(params)
}

fn to_json(value: impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(value)
        .map_err(|error| RpcError::invalid_params(format!("not written as JSON: {error}")))
}
