//! The differences between the revisions of the protocol, as far as they are not data: who is asking, in which revision,
//! and the shape in which a peer of that revision gets its results.

mod peer;
mod style;
mod wrapped;

use serde_json::json;
use treenail_schema::{Revision, error_code};

#[cfg(feature = "http-server")]
pub(crate) use self::peer::stated_version;
pub(crate) use self::peer::{KnownPeer, Peer, read_log_level};
pub(crate) use self::style::{Placement, Style, speak_block, speak_content};
pub use self::wrapped::WrapResults;
pub(crate) use self::wrapped::{is_marked, mark, wrapped_value};
use crate::wire::{RpcError, quoted};

fn unsupported(version: &str) -> RpcError {
    let requested: String = version.chars().take(64).collect();
    let known_legacy = version.parse::<Revision>().is_ok();
    let message = if known_legacy {
        format!("revision {requested} is spoken after an `initialize` handshake only")
    } else {
        format!("revision {} is not supported", quoted(version))
    };
    RpcError::new(error_code::UNSUPPORTED_PROTOCOL_VERSION, message)
        .with_data(json!({ "supported": supported_versions(), "requested": requested }))
}

/// All revisions that are served, the newest first.
pub(crate) fn supported_versions() -> Vec<&'static str> {
    Revision::ALL
        .into_iter()
        .rev()
        .map(Revision::as_str)
        .collect()
}

/// The revision in which the handshake with a client goes on that offered `version`.
pub(crate) fn negotiate(version: &str) -> Revision {
    version
        .parse()
        .ok()
        .filter(|revision: &Revision| !revision.is_modern())
        .unwrap_or(Revision::LATEST_LEGACY)
}

/// The longest URI that an error repeats, in bytes.
const LONGEST_URI: usize = 2_048;

/// The error for a resource that does not exist. It repeats the URI, unless that is longer than URIs are.
pub(crate) fn resource_not_found(uri: &str, message: String, revision: Revision) -> RpcError {
    let code = if revision.is_modern() {
        error_code::INVALID_PARAMS
    } else {
        error_code::RESOURCE_NOT_FOUND
    };
    let error = RpcError::new(code, message);
    if uri.len() > LONGEST_URI {
        return error;
    }
    error.with_data(json!({ "uri": uri }))
}
