//! Extensions that publish messages.

use std::sync::Arc;

use crate::extension::Publication;
use crate::server::Server;
use crate::wire::RpcError;

/// Sends a notification to the subscribers of a topic at this replica: the clients whose `subscriptions/listen` names `topic` in
/// the list `member`. A newer message replaces one that a subscriber has not received yet. `params` is the text of an object.
///
/// # Errors
///
/// If `params` is not an object.
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
