//! Error codes in the era of the caller.

use treenail_runtime::{Context, RpcError};
use treenail_schema::error_code;

/// Returns the error for a resource that the proxy does not have.
pub(crate) fn not_found(context: &Context, uri: &str) -> RpcError {
    let name: String = uri.chars().take(200).collect();
    let message = format!("resource `{name}` was not found");
    let error = RpcError::new(error_code::RESOURCE_NOT_FOUND, message);
    let error = error.with_data(serde_json::json!({ "uri": name }));
    in_era(error, context)
}

/// Returns the error with the code of the caller's era, if it is that for a missing resource. The runtime replaces the codes that
/// the modern era has retired.
pub(super) fn in_era(mut error: RpcError, context: &Context) -> RpcError {
    let names_uri = error
        .data
        .as_ref()
        .is_some_and(|data| data.get("uri").is_some());
    if error.code == error_code::INVALID_PARAMS && names_uri && !context.reruns_for_answers() {
        error.code = error_code::RESOURCE_NOT_FOUND;
    }
    error
}
