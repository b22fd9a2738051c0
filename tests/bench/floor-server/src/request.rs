//! What is read of a request.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The envelope of a request or a notification.
#[derive(Deserialize)]
pub(crate) struct Request<'a> {
    pub(crate) jsonrpc: &'a str,
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: &'a str,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    #[serde(borrow)]
    pub(crate) arguments: &'a RawValue,
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<Meta<'a>>,
}

/// The parameters of other requests, as far as they matter.
#[derive(Deserialize)]
pub(crate) struct Other<'a> {
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<Meta<'a>>,
}

/// What a request of the modern era says of its sender.
#[derive(Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<&'a str>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Add {
    pub(crate) a: i64,
    pub(crate) b: i64,
}
