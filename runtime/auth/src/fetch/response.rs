//! Responses to requests of a [`Fetcher`](super::Fetcher).

use std::fmt;
use std::net::IpAddr;

use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// Maximum size of a body in bytes.
pub(super) const MAX_BODY_BYTES: usize = 256 * 1024;
/// Maximum depth of objects and arrays in a body.
const MAX_DEPTH: usize = 32;

/// A response with its body, which may contain tokens. `Debug` hides it.
pub(crate) struct FetchResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Zeroizing<Vec<u8>>,
    /// The address of the server; `None` behind a proxy.
    pub(crate) peer: Option<IpAddr>,
}

impl FetchResponse {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self {
            status,
            headers,
            body: Zeroizing::new(body),
            peer: None,
        }
    }

    /// Returns the response with the address of its server.
    pub(super) fn with_peer(mut self, peer: Option<IpAddr>) -> Self {
        self.peer = peer;
        self
    }

    /// Returns the body.
    #[cfg(feature = "authorization")]
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Parses the body, a JSON object of at most 32 levels.
    ///
    /// # Errors
    ///
    /// The violated expectation, without bytes of the body.
    pub(crate) fn json(&self) -> Result<Map<String, Value>, &'static str> {
        let value = serde_json::from_slice(&self.body).map_err(|_| "the body is not JSON")?;
        if depth(&value) > MAX_DEPTH {
            return Err("the body has more than 32 levels");
        }
        match value {
            Value::Object(members) => Ok(members),
            _ => Err("the body is not a JSON object"),
        }
    }

    /// Returns true if the server may answer in another way later.
    pub(crate) fn is_temporary(&self) -> bool {
        self.status.is_server_error() || matches!(self.status.as_u16(), 408 | 425 | 429)
    }
}

impl fmt::Debug for FetchResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FetchResponse")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Depth of a value. The parser has bounded it to 128.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(values) => values.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}
