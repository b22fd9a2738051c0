//! Extensions with a state, and extensions that publish messages.

use std::sync::Arc;

use treenail_schema::ClientCapabilities;

use crate::extension::{Publication, require};
use crate::server::Server;
use crate::wire::RpcError;

/// Sends a notification to the subscribers of a topic at this replica: the clients whose `subscriptions/listen` names `topic` in
/// the list `member`. A newer message replaces one that a subscriber has not received yet. `params` is the text of an object.
///
/// # Errors
///
/// If `params` is not an object.
#[inline]
pub fn publish(
    server: &Server,
    (member, topic): (&str, &str),
    method: &str,
    params: &str,
) -> Result<(), RpcError> {
    let publication = Publication::new((member, topic), method, params)?;
    server.publish_message(&Arc::new(publication));
    Ok(())
}

/// Returns the value that an extension of a server has added with `Extension::state`.
pub fn state<T: Send + Sync + 'static>(server: &Server) -> Option<&T> {
    server.extension_state()
}

/// Rejects a client that has not declared the extension `id`.
///
/// # Errors
///
/// The error of the protocol for a missing capability (-32021), which names the extension.
pub fn require_declared(capabilities: &ClientCapabilities, id: &str) -> Result<(), RpcError> {
    require(capabilities, id)
}
