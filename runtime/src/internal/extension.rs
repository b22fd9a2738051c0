//! Extensions with a state, and extensions that publish messages.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use treenail_schema::ClientCapabilities;

use crate::context::Context;
use crate::extension::{ExtensionMethod, Publication, require, topic_key};
use crate::result_writer::ResultWriter;
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

/// Topics that clients at this replica have subscribed to.
#[derive(Debug)]
pub struct SubscribedTopics(HashSet<Arc<str>>);

impl SubscribedTopics {
    /// Returns the topics of a server. Those of a request are among them before they are accepted.
    #[inline]
    pub fn of(server: &Server) -> Self {
        Self(server.subscribed_topics())
    }

    /// Returns `true` if a client has subscribed to `topic` in the list `member`.
    #[inline]
    pub fn contains(&self, (member, topic): (&str, &str)) -> bool {
        self.0.contains(&*topic_key(member, topic))
    }
}

/// Returns the value that an extension of a server has added with `Extension::state`.
pub fn state<T: Send + Sync + 'static>(server: &Server) -> Option<&T> {
    server.extension_state()
}

/// Returns `true` if the server has the extension `id`.
pub fn has_extension(server: &Server, id: &str) -> bool {
    server.has_extension(id)
}

/// Result of a method that writes itself: the members and the end of an object, without a line end.
pub trait WriteResult: 'static {
    /// Writes the result.
    ///
    /// # Errors
    ///
    /// The response to the request instead.
    fn write(self, result: &mut ResultWriter<'_>) -> Result<(), RpcError>;
}

/// Creates a method as [`ExtensionMethod::new`] does, whose results write themselves.
pub fn writing_method<P, R, F, A>(name: &str, handler: F) -> ExtensionMethod
where
    P: DeserializeOwned + 'static,
    R: WriteResult,
    F: Fn(Context, P) -> A + Send + Sync + 'static,
    A: Future<Output = Result<R, RpcError>> + Send + 'static,
{
    ExtensionMethod::writing(
        name,
        handler,
        |returned: Result<R, RpcError>, _, (), result| {
            returned.and_then(|value| value.write(result))
        },
    )
}

/// Rejects a client that has not declared the extension `id`.
///
/// # Errors
///
/// The error of the protocol for a missing capability (-32021), which names the extension.
pub fn require_declared(capabilities: &ClientCapabilities, id: &str) -> Result<(), RpcError> {
    require(capabilities, id)
}
