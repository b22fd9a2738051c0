//! Limits of the time and the memory that a server can make a client spend.

mod lists;
mod malformed;
mod messages;

use serde_json::Value;
use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;

use crate::script::{Reply, discovered, scripted_with_limits};

/// Creates a session with a modern server whose messages are not limited.
async fn modern(
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> Result<McpClient, ClientError> {
    let limits = ClientLimits::default();
    let (session, _) =
        scripted_with_limits(&limits, move |message| match message["method"].as_str() {
            Some("server/discover") => discovered(message),
            _ => reply(message),
        });
    McpClient::builder().session(session).build().await
}
