//! One server behind a proxy, whether it is connected or not.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use treenail_runtime::dynamic::RawResult;
use treenail_runtime::{Context, RpcError};
use treenail_schema::{Tool, error_code};

use crate::failure::Failure;
use crate::forward::Forwarder;
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall};
use crate::matcher::Matcher;
use crate::rewrite::{ResultKind, rewrite_uris};
use crate::uris::Uris;
use crate::waiting::WaitingCalls;

/// One server behind a proxy. The functions of its features share it.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    pub(crate) limits: ProxyLimits,
    pub(crate) uris: Uris,
    pub(crate) waiting: WaitingCalls,
    connection: RwLock<Connection>,
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
        }
    }

    pub(crate) fn set_known(&self, known: KnownResources) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
    }

    fn known(&self) -> Arc<KnownResources> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, connection: Connection) {
        *self
            .connection
            .write()
            .unwrap_or_else(PoisonError::into_inner) = connection;
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
            Err(Failure::Rpc(error)) => Err(error),
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

    /// Passes on a request for a resource at a URI of the proxy.
    pub(crate) async fn read_resource(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<RawResult, RpcError> {
        let members = format!("\"uri\":{}", json(self.uris.at_server(uri)));
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
        if self.known().is_listed(self.uris.at_server(uri)) {
            let name: String = uri.chars().take(200).collect();
            let message = format!("resource `{name}` was not found");
            let error = RpcError::new(error_code::RESOURCE_NOT_FOUND, message);
            return Err(in_era(
                error.with_data(serde_json::json!({ "uri": name })),
                context,
            ));
        }
        self.read_resource(context, uri).await
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
        self.link().map_err(|cause| {
            let name = &self.name;
            Failure::Server(format!("the server `{name}` is not connected: {cause}"))
        })
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
        let text = forwarder.run(context, call).await?;
        Ok(rewrite_uris(kind, text, |uri| {
            self.uris.referred(uri, |uri| self.known().is_served(uri))
        }))
    }
}

/// Returns the error for a missing resource with the code of the caller's era. Other errors stay as they are.
fn in_era(mut error: RpcError, context: &Context) -> RpcError {
    let is_modern = context.reruns_for_answers();
    let names_uri = error
        .data
        .as_ref()
        .is_some_and(|data| data.get("uri").is_some());
    match error.code {
        error_code::RESOURCE_NOT_FOUND if is_modern => error.code = error_code::INVALID_PARAMS,
        error_code::INVALID_PARAMS if !is_modern && names_uri => {
            error.code = error_code::RESOURCE_NOT_FOUND;
        }
        _ => {}
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
