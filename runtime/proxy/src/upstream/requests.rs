//! Requests of clients that are passed on to a server, and their results.

use std::sync::Arc;

use treenail_runtime::dynamic::RawResult;
use treenail_runtime::internal::HeaderArguments;
use treenail_runtime::{Context, RpcError};

use super::error_code::{in_era, not_found};
use super::{UNMOUNTED, Upstream};
use crate::failure::Failure;
use crate::forward::Forwarder;
use crate::link::{HeaderSource, Link, RemoteCall};
use crate::race::{Either, race};
use crate::rewrite::{ResultKind, rewrite_uris};

/// Tool of a server, as its calls need it.
pub(crate) struct MountedTool {
    pub(crate) name: String,
    pub(crate) header_arguments: HeaderArguments,
}

impl MountedTool {
    /// Returns the call of the tool with these arguments, an object.
    fn call(&self, link: &Link, arguments: &str) -> RemoteCall {
        let mut members = format!("\"name\":{},\"arguments\":", json(&self.name));
        let start = members.len();
        members.push_str(arguments);
        let has_headers = link.sends_header_arguments();
        let headers = has_headers.then(|| self.header_arguments.headers(arguments));
        RemoteCall {
            method: "tools/call",
            header_source: has_headers.then(|| HeaderSource {
                tool: self.name.clone(),
                arguments: start..members.len(),
            }),
            members,
            headers: headers.unwrap_or_default(),
        }
    }
}

impl Upstream {
    /// Passes on a call of a tool. A failure of the connection is one that the model reads.
    pub(crate) async fn call_tool(
        &self,
        context: &Context,
        tool: &MountedTool,
        arguments: &str,
    ) -> Result<RawResult, RpcError> {
        let result = async {
            let link = self.connected()?;
            let call = tool.call(&link, arguments);
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
        if self.is_listed(uri) {
            return Err(not_found(context, uri));
        }
        let own = self.uris.without_prefix(uri).unwrap_or(uri);
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
            header_source: None,
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
