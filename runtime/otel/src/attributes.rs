//! Names and values of the conventions.

use std::borrow::Cow;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use treenail_runtime::observe::ObservedTransport;
use treenail_schema::{Method, Revision};

pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
pub(crate) const REQUEST_ID: &str = "jsonrpc.request.id";
pub(crate) const RESOURCE_URI: &str = "mcp.resource.uri";
pub(crate) const SESSION_ID: &str = "mcp.session.id";

/// Value in place of those that peers choose freely.
pub(crate) const OTHER: &str = "_OTHER";

const METHOD_NAME: &str = "mcp.method.name";
const PROTOCOL_VERSION: &str = "mcp.protocol.version";
const TOOL_NAME: &str = "gen_ai.tool.name";
const PROMPT_NAME: &str = "gen_ai.prompt.name";
const OPERATION_NAME: &str = "gen_ai.operation.name";
const NETWORK_TRANSPORT: &str = "network.transport";
const NETWORK_PROTOCOL: &str = "network.protocol.name";
const NETWORK_VERSION: &str = "network.protocol.version";

/// Bounds of the histograms, in seconds.
const BOUNDARIES: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// Longest text from a peer in an attribute, in bytes.
const MAX_TEXT: usize = 1024;

/// Returns the method as the conventions write it: one of the protocol, or one of an extension that the server supports or the
/// client calls.
pub(crate) fn method_name(method: Option<Method>, of_extension: Option<&str>) -> Cow<'static, str> {
    match (method, of_extension) {
        (Some(method), _) => method.as_str().into(),
        (None, Some(name)) => name.to_owned().into(),
        (None, None) => OTHER.into(),
    }
}

/// Returns the text up to the bound of an attribute.
pub(crate) fn bounded(text: &str) -> String {
    let end = (0..=MAX_TEXT.min(text.len())).rev();
    let end = end.into_iter().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or(0)].to_owned()
}

/// Returns the attributes that spans and metrics of a request have.
pub(crate) fn of_request(
    (method, of_extension): (Option<Method>, Option<&str>),
    name: Option<&str>,
    revision: Option<Revision>,
    transport: ObservedTransport,
) -> Vec<KeyValue> {
    let mut attributes = Vec::with_capacity(10);
    let method_name = method_name(method, of_extension);
    attributes.push(KeyValue::new(METHOD_NAME, method_name));
    if method == Some(Method::CallTool) {
        attributes.push(KeyValue::new(OPERATION_NAME, "execute_tool"));
    }
    let key = match method {
        Some(Method::CallTool) => Some(TOOL_NAME),
        Some(Method::GetPrompt) => Some(PROMPT_NAME),
        _ => None,
    };
    if let (Some(key), Some(name)) = (key, name) {
        attributes.push(KeyValue::new(key, bounded(name)));
    }
    attributes.extend(of_session(revision, transport));
    attributes
}

/// Returns the attributes of a session.
pub(crate) fn of_session(
    revision: Option<Revision>,
    transport: ObservedTransport,
) -> impl Iterator<Item = KeyValue> {
    let version = revision.map(|revision| KeyValue::new(PROTOCOL_VERSION, revision.as_str()));
    let (transport, protocol) = match transport {
        ObservedTransport::Stdio => (Some("pipe"), None),
        ObservedTransport::Http("3") => (Some("quic"), Some("3")),
        ObservedTransport::Http(version) => (Some("tcp"), Some(version)),
        _ => (None, None),
    };
    let network = transport.map(|transport| KeyValue::new(NETWORK_TRANSPORT, transport));
    let name = protocol.map(|_| KeyValue::new(NETWORK_PROTOCOL, "http"));
    let protocol = protocol.filter(|version| !version.is_empty());
    let protocol = protocol.map(|version| KeyValue::new(NETWORK_VERSION, version));
    [version, network, name, protocol].into_iter().flatten()
}

/// Makes a histogram of durations in seconds.
pub(crate) fn histogram(
    meter: &Meter,
    name: &'static str,
    description: &'static str,
) -> Histogram<f64> {
    meter
        .f64_histogram(name)
        .with_unit("s")
        .with_description(description)
        .with_boundaries(BOUNDARIES.to_vec())
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transport_has_its_network() {
        for (transport, network) in [
            (ObservedTransport::Stdio, Some("pipe")),
            (ObservedTransport::Http("1.1"), Some("tcp")),
            (ObservedTransport::Http("3"), Some("quic")),
            (ObservedTransport::Other, None),
        ] {
            let mut attributes = of_session(None, transport);
            let found = attributes.find(|one| one.key.as_str() == NETWORK_TRANSPORT);
            let found = found.map(|one| one.value.to_string());
            assert_eq!(found.as_deref(), network, "{transport:?}");
        }
    }
}
