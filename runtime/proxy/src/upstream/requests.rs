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
use crate::matcher::Comparisons;
use crate::race::{Either, race};
use crate::rewrite::{ResultKind, rewrite_uris, without_reserved_meta};

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
        self.link()
            .map_err(|cause| Failure::Server(self.not_connected(&cause)))
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
            Either::Second(()) => Err(Failure::Server(self.not_connected(UNMOUNTED))),
        };
        Ok(self.with_uris_at_proxy(kind, without_reserved_meta(result?)))
    }

    /// Replaces the URIs of a result by those at the proxy. A URI that is not compared stays as it is, unless it certainly belongs
    /// to another server.
    fn with_uris_at_proxy(&self, kind: ResultKind, text: String) -> String {
        let mut comparisons = Comparisons::default();
        rewrite_uris(kind, text, |uri| {
            self.uris.referred(uri, |uri| {
                let is_served = self.known().is_served(uri, &mut comparisons);
                is_served.unwrap_or(true)
            })
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{MAX_COMPARED_BYTES, ProxyLimits};
    use crate::matcher::Matcher;
    use crate::upstream::KnownResources;
    use crate::uris::{Owners, Uris};
    use crate::waiting::WaitingCalls;

    #[test]
    fn the_comparisons_of_the_uris_of_a_result_are_bounded() {
        let uris = Uris::new(Owners::default(), 1, "one");
        let limits = ProxyLimits::default();
        let features = limits.features;
        let upstream = Upstream::new("one".into(), limits, uris, WaitingCalls::default());
        let templates = (0..features).map(|number| format!("a:{{x}}z{number}/{{y}}"));
        upstream.set_known(KnownResources {
            served: templates.map(|template| Matcher::new(&template)).collect(),
            ..KnownResources::default()
        });
        let rewritten = |uris: &[&str]| {
            let block = |uri| format!(r#"{{"type":"resource_link","uri":"{uri}"}}"#);
            let blocks: Vec<_> = uris.iter().map(block).collect();
            let text = format!(r#"{{"content":[{}]}}"#, blocks.join(","));
            let text = upstream.with_uris_at_proxy(ResultKind::Tool, text);
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let blocks = value["content"].as_array().unwrap().iter();
            let uris = blocks.map(|block| block["uri"].as_str().unwrap().to_owned());
            uris.collect::<Vec<_>>()
        };
        let long = format!("a:{}", "a".repeat(1 << 20));
        assert_eq!(
            rewritten(&["a:1", &long, "a:1z7/2", "b:1"]),
            ["one+a:1", &*long, "a:1z7/2", "one+b:1"],
            "a long URI is not compared"
        );
        let short = "a:".repeat(500);
        let found = rewritten(&vec![&*short; 1_000]);
        let compared = found.iter().filter(|uri| uri.starts_with("one+")).count();
        let most = MAX_COMPARED_BYTES / (1_000 * features);
        assert_eq!(compared, most);

        // Subscriptions and updates of a server have the same bound.
        let served = format!("a:{}z1/1", "a".repeat(994));
        let mut comparisons = Comparisons::default();
        let mut subscribed = || upstream.subscribed(&served, &mut comparisons).is_some();
        assert_eq!((0..1_000).filter(|_| subscribed()).count(), most);
        let mut comparisons = Comparisons::default();
        let mut is_plain = || upstream.at_proxy(&served, &mut comparisons).len() == 2;
        assert_eq!((0..1_000).filter(|_| is_plain()).count(), most);
    }
}
