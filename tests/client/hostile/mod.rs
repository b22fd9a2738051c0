//! Limits of the time and the memory that a server can make a client spend.

mod lists;
mod malformed;
mod messages;

use serde_json::Value;
use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;

use crate::script::{Reply, discovered, scripted_with_limits};

/// Creates a session with a modern server and the default limits.
async fn modern(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> Result<McpClient, ClientError> {
    modern_with_limits(ClientLimits::default(), reply).await
}

/// As [`modern`], with other limits.
async fn modern_with_limits(
    limits: ClientLimits,
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> Result<McpClient, ClientError> {
    let (session, _) =
        scripted_with_limits(&limits, move |message| match message["method"].as_str() {
            Some("server/discover") => discovered(message),
            _ => reply(message),
        });
    let builder = McpClient::builder().session(session).limits(limits);
    builder.build().await
}
