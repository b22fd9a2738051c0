//! Declarations of extensions by a client.

use serde_json::json;
use treenail_schema::{ClientCapabilities, JsonObject, error_code};

use crate::wire::RpcError;

/// Returns the settings with which a client has declared the extension `id`.
pub(super) fn declared<'a>(
    capabilities: &'a ClientCapabilities,
    id: &str,
) -> Option<&'a JsonObject> {
    capabilities.extensions.as_ref()?.get(id)
}

/// Rejects a client that has not declared the extension `id`.
pub(crate) fn require(capabilities: &ClientCapabilities, id: &str) -> Result<(), RpcError> {
    if declared(capabilities, id).is_some() {
        return Ok(());
    }
    let error = RpcError::new(
        error_code::MISSING_REQUIRED_CLIENT_CAPABILITY,
        format!("this needs a client that declares the extension `{id}` in its capabilities"),
    );
    let extensions = json!({ id: {} });
    Err(error.with_data(json!({ "requiredCapabilities": { "extensions": extensions } })))
}
