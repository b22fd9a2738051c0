//! Differences between protocol revisions that are not data.
//!
//! `peer` identifies the client and its revision. `result_format` and `wrapped` define the format of its results.
//! `sampling_result` converts an answer of the client for its server.

mod peer;
mod result_format;
#[cfg(feature = "client")]
mod sampling_result;
mod wrapped;

use serde_json::json;
use treenail_schema::{Revision, error_code};

pub(crate) use self::peer::read_log_level;
pub use self::peer::{CachedPeer, Peer, stated_version};
pub(crate) use self::result_format::{Placement, ResultFormat, downgrade_block, downgrade_content};
#[cfg(feature = "client")]
pub use self::sampling_result::downgrade_sampling_result;
pub use self::wrapped::WrapResults;
pub(crate) use self::wrapped::{is_marked, mark_wrapped, unmark_wrapped, wrapped_value};
use crate::wire::{RpcError, quoted};

fn unsupported(version: &str) -> RpcError {
    let requested: String = version.chars().take(64).collect();
    let known_legacy = version.parse::<Revision>().is_ok();
    let message = if known_legacy {
        format!("revision {requested} requires an `initialize` handshake")
    } else {
        format!("revision {} is not supported", quoted(version))
    };
    RpcError::new(error_code::UNSUPPORTED_PROTOCOL_VERSION, message)
        .with_data(json!({ "supported": supported_versions(), "requested": requested }))
}

/// Returns all supported revisions, newest first.
pub(crate) fn supported_versions() -> Vec<&'static str> {
    Revision::ALL
        .into_iter()
        .rev()
        .map(Revision::as_str)
        .collect()
}

/// Chooses the revision of a session whose client offered `version` in its handshake.
pub(crate) fn negotiate(version: &str) -> Revision {
    version
        .parse()
        .ok()
        .filter(|revision: &Revision| !revision.is_modern())
        .unwrap_or(Revision::LATEST_LEGACY)
}

/// Returns the error for a peer of `revision`: with a current code in place of one that the modern era has retired.
pub fn without_retired_code(mut error: RpcError, revision: Revision) -> RpcError {
    if revision.is_modern() {
        error.code = match error.code {
            error_code::RESOURCE_NOT_FOUND => error_code::INVALID_PARAMS,
            error_code::URL_ELICITATION_REQUIRED => error_code::INTERNAL_ERROR,
            code => code,
        };
    }
    error
}

/// Longest URI that an error repeats, in bytes.
const MAX_ERROR_URI_BYTES: usize = 2_048;

/// Returns the error for a resource that does not exist. It contains the URI, unless that is too long.
pub(crate) fn resource_not_found(uri: &str, message: String, revision: Revision) -> RpcError {
    let code = if revision.is_modern() {
        error_code::INVALID_PARAMS
    } else {
        error_code::RESOURCE_NOT_FOUND
    };
    let error = RpcError::new(code, message);
    if uri.len() > MAX_ERROR_URI_BYTES {
        return error;
    }
    error.with_data(json!({ "uri": uri }))
}
