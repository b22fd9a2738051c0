//! Negotiation of the protocol revision.

mod choice;
mod era;
mod slow_start;

use serde_json::{Value, json};
use treenail::client::ClientError;
use treenail::prelude::*;

use crate::script::{Received, Reply, scripted};

async fn connect_to(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (Result<McpClientSession, ClientError>, Received) {
    let (session, received) = scripted(reply);
    let connected = McpClientSession::builder().session(session).build().await;
    (connected, received)
}

/// Returns an error that names the supported revisions.
fn unsupported(supported: &Value) -> Value {
    json!({"code": -32022, "message": "no", "data": {"supported": supported, "requested": "x"}})
}
