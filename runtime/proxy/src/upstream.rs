//! One server behind a proxy, whether it is connected or not.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use tokio::sync::watch;
use treenail_runtime::dynamic::RawResult;
use treenail_runtime::{Context, RpcError};
use treenail_schema::{Tool, error_code};

use crate::failure::Failure;
use crate::forward::Forwarder;
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall};
use crate::matcher::Matcher;
use crate::race::{Either, race};
use crate::rewrite::{ResultKind, rewrite_uris};
use crate::uris::Uris;
use crate::waiting::WaitingCalls;

/// Cause of the failures of calls of a server that was unmounted.
const UNMOUNTED: &str = "it was unmounted";

/// One server behind a proxy. The functions of its features share it.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    pub(crate) limits: ProxyLimits,
    pub(crate) uris: Uris,
    pub(crate) waiting: WaitingCalls,
    connection: RwLock<Connection>,
    unmounted: watch::Sender<bool>,
    known: RwLock<Arc<KnownResources>>,
}

/// Resources that the lists of a server contain.
#[derive(Debug, Default)]
pub(crate) struct KnownResources {
    /// URIs, also of those that are not served.
    pub(crate) uris: HashSet<String>,
    /// Templates, also those that are not served.
    pub(crate) templates: Vec<Matcher>,
    /// Templates that are served unchanged.
    pub(crate) served: Vec<Matcher>,
}

impl KnownResources {
    fn is_listed(&self, uri: &str) -> bool {
        self.uris.contains(uri) || self.templates.iter().any(|template| template.matches(uri))
    }

    /// Returns true if a template that is served unchanged may have the URI.
    fn is_served(&self, uri: &str) -> bool {
        self.served.iter().any(|template| template.matches(uri))
    }
}

/// State of the connection to the server.
#[derive(Clone, Debug)]
enum Connection {
    Up(Arc<Link>),
    /// The cause, as a clause.
    Down(Arc<str>),
    /// The server was unmounted. The connection is closed by its task.
    Unmounted(Option<Arc<Link>>),
}

impl Upstream {
    pub(crate) fn new(
        name: Arc<str>,
        limits: ProxyLimits,
        uris: Uris,
        waiting: WaitingCalls,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            limits,
            uris,
            waiting,
            connection: RwLock::new(Connection::Down("it has not been reached yet".into())),
            unmounted: watch::Sender::new(false),
            known: RwLock::default(),
        })
    }

    pub(crate) fn set_up(&self, link: Arc<Link>) {
        self.set(Connection::Up(link));
    }

    pub(crate) fn set_down(&self, cause: impl Into<Arc<str>>) {
        self.set(Connection::Down(cause.into()));
    }

    /// Returns the connection, or the reason why there is none.
    pub(crate) fn link(&self) -> Result<Arc<Link>, Arc<str>> {
        let connection = self
            .connection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        match &*connection {
            Connection::Up(link) if link.tap.is_closed() => Err("the connection was lost".into()),
            Connection::Up(link) => Ok(Arc::clone(link)),
            Connection::Down(cause) => Err(Arc::clone(cause)),
            Connection::Unmounted(_) => Err(UNMOUNTED.into()),
        }
    }

    pub(crate) fn set_known(&self, known: KnownResources) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
    }

    fn known(&self) -> Arc<KnownResources> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the connection for good: calls in flight fail, and the URIs of the server are released.
    pub(crate) fn unmount(&self) {
        let mut connection = self.lock_connection();
        let link = match &*connection {
            Connection::Up(link) => Some(Arc::clone(link)),
            Connection::Unmounted(_) => return,
            Connection::Down(_) => None,
        };
        *connection = Connection::Unmounted(link);
        drop(connection);
        self.unmounted.send_replace(true);
        self.uris.release();
    }

    /// Waits until the server is unmounted.
    pub(crate) async fn unmounted(&self) {
        // The sender exists as long as the server.
        let _ = self.unmounted.subscribe().wait_for(|is| *is).await;
    }

    /// Takes the connection of a server that was unmounted.
    pub(crate) fn take_unmounted(&self) -> Option<Arc<Link>> {
        match &mut *self.lock_connection() {
            Connection::Unmounted(link) => link.take(),
            _ => None,
        }
    }

    fn set(&self, connection: Connection) {
        let mut current = self.lock_connection();
        if !matches!(*current, Connection::Unmounted(_)) {
            *current = connection;
        }
    }

    fn lock_connection(&self) -> RwLockWriteGuard<'_, Connection> {
        let connection = self.connection.write();
        connection.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a list contains the URI of the server.
    pub(crate) fn is_listed_resource(&self, uri: &str) -> bool {
        self.known().uris.contains(uri)
    }

    /// Returns the URI at the server of a subscribed URI of the proxy, if the resource is one of this server.
    pub(crate) fn subscribed<'a>(&self, uri: &'a str) -> Option<&'a str> {
        if self.uris.is_foreign(uri) {
            return None;
        }
        if self.uris.owns(uri) {
            return Some(uri);
        }
        let known = self.known();
        match self.uris.without_prefix(uri) {
            // A template of the server may start like its prefix.
            Some(rest) if known.is_served(rest) || !known.is_served(uri) => Some(rest),
            None if !known.is_served(uri) && !self.uris.prefix().is_empty() => None,
            _ => Some(uri),
        }
    }

    /// Returns the URIs at the proxy of a resource of the server.
    pub(crate) fn at_proxy(&self, uri: &str) -> Vec<String> {
        let is_plain = !self.uris.is_foreign(uri)
            && (self.uris.prefix().is_empty()
                || self.uris.owns(uri)
                || self.known().is_served(uri));
        let plain = is_plain.then(|| uri.to_owned());
        plain.into_iter().chain(self.uris.prefixed(uri)).collect()
    }

    /// Passes on a call of a tool. A failure of the connection is one that the model reads.
    pub(crate) async fn call_tool(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: &str,
    ) -> Result<RawResult, RpcError> {
        let result = async {
            let link = self.connected()?;
            let call = RemoteCall {
                method: "tools/call",
                members: format!("\"name\":{},\"arguments\":{arguments}", json(&tool.name)),
                headers: treenail_runtime::internal::argument_headers(
                    &link.client,
                    tool,
                    arguments,
                ),
            };
            self.forward(&link, context, &call, ResultKind::Tool).await
        };
        match result.await {
            Ok(text) => Ok(text.into()),
            Err(Failure::Rpc(error)) => Err(without_retired_code(error, context)),
            Err(Failure::Server(message)) => {
                let message = json(&message);
                let text =
                    format!(r#"{{"content":[{{"type":"text","text":{message}}}],"isError":true}}"#);
                Ok(text.into())
            }
        }
    }

    /// Passes on a request for a prompt. `arguments` are an object.
    pub(crate) async fn get_prompt(
        &self,
        context: &Context,
        name: &str,
        arguments: &str,
    ) -> Result<RawResult, RpcError> {
        let members = format!("\"name\":{},\"arguments\":{arguments}", json(name));
        self.request(context, "prompts/get", members, ResultKind::Prompt)
            .await
    }

    /// Passes on a request for a resource at a URI of the server.
    pub(crate) async fn read_resource(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<RawResult, RpcError> {
        let members = format!("\"uri\":{}", json(uri));
        self.request(context, "resources/read", members, ResultKind::Resource)
            .await
    }

    /// Passes on a request for a resource that no list of the server contains. Its listed resources have features of their own,
    /// unless they are not served or a caller does not see them.
    pub(crate) async fn read_unlisted(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<RawResult, RpcError> {
        let own = self.uris.without_prefix(uri).unwrap_or(uri);
        if self.known().is_listed(own) {
            return Err(not_found(context, uri));
        }
        self.read_resource(context, own).await
    }

    /// Passes on a request for completions. `params` are those of the caller, `reference` is the JSON text of the server's one.
    pub(crate) async fn complete(
        &self,
        context: &Context,
        reference: &str,
        params: &str,
    ) -> Result<RawResult, RpcError> {
        let members = completion_members(reference, params)
            .map_err(|error| RpcError::invalid_params(error.to_string()))?;
        self.request(
            context,
            "completion/complete",
            members,
            ResultKind::Completion,
        )
        .await
    }

    async fn request(
        &self,
        context: &Context,
        method: &'static str,
        members: String,
        kind: ResultKind,
    ) -> Result<RawResult, RpcError> {
        let call = RemoteCall {
            method,
            members,
            headers: Vec::new(),
        };
        let result = async {
            let link = self.connected()?;
            self.forward(&link, context, &call, kind).await
        };
        let result = result.await.map(RawResult::from);
        result.map_err(|failure| in_era(failure.into_error(), context))
    }

    fn connected(&self) -> Result<Arc<Link>, Failure> {
        self.link().map_err(|cause| self.not_connected(&cause))
    }

    fn not_connected(&self, cause: &str) -> Failure {
        let name = &self.name;
        Failure::Server(format!("the server `{name}` is not connected: {cause}"))
    }

    async fn forward(
        &self,
        link: &Arc<Link>,
        context: &Context,
        call: &RemoteCall,
        kind: ResultKind,
    ) -> Result<String, Failure> {
        let forwarder = Forwarder {
            server: &self.name,
            link,
            limits: &self.limits,
            waiting: &self.waiting,
        };
        let result = match race(forwarder.run(context, call), self.unmounted()).await {
            Either::First(result) => result,
            Either::Second(()) => Err(self.not_connected(UNMOUNTED)),
        };
        let text = result?;
        Ok(rewrite_uris(kind, text, |uri| {
            self.uris.referred(uri, |uri| self.known().is_served(uri))
        }))
    }
}

/// Returns the error for a resource that the proxy does not have.
pub(crate) fn not_found(context: &Context, uri: &str) -> RpcError {
    let name: String = uri.chars().take(200).collect();
    let message = format!("resource `{name}` was not found");
    let error = RpcError::new(error_code::RESOURCE_NOT_FOUND, message);
    let error = error.with_data(serde_json::json!({ "uri": name }));
    in_era(error, context)
}

/// Returns the error with another code instead of one that the era of the caller does not have any more.
fn without_retired_code(mut error: RpcError, context: &Context) -> RpcError {
    if context.reruns_for_answers() {
        error.code = match error.code {
            error_code::RESOURCE_NOT_FOUND => error_code::INVALID_PARAMS,
            error_code::URL_ELICITATION_REQUIRED => error_code::INTERNAL_ERROR,
            code => code,
        };
    }
    error
}

/// Returns the error with a code of the caller's era, also for a missing resource.
fn in_era(error: RpcError, context: &Context) -> RpcError {
    let mut error = without_retired_code(error, context);
    let names_uri = error
        .data
        .as_ref()
        .is_some_and(|data| data.get("uri").is_some());
    if error.code == error_code::INVALID_PARAMS && names_uri && !context.reruns_for_answers() {
        error.code = error_code::RESOURCE_NOT_FOUND;
    }
    error
}

/// Returns the JSON text of a string.
pub(crate) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the parameters of a completion without `_meta` and with another reference.
fn completion_members(reference: &str, params: &str) -> Result<String, serde_json::Error> {
    use std::fmt::Write;

    use serde_json::value::RawValue;

    #[derive(serde::Deserialize)]
    struct Completion<'a> {
        #[serde(borrow)]
        argument: &'a RawValue,
        #[serde(borrow, default)]
        context: Option<&'a RawValue>,
    }

    let completion: Completion<'_> = serde_json::from_str(params)?;
    let mut members = format!("\"ref\":{reference},\"argument\":{}", completion.argument);
    if let Some(context) = completion.context {
        // Writing to a string cannot fail.
        let _ = write!(members, ",\"context\":{context}");
    }
    Ok(members)
}
