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

/// Returns the error with another code instead of one that the era of the caller does not have any more.
pub(super) fn without_retired_code(mut error: RpcError, context: &Context) -> RpcError {
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
pub(super) fn in_era(error: RpcError, context: &Context) -> RpcError {
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
