//! Validation of results against the output schemas of tools.

mod costs;
mod results;
mod schemas;

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;

use crate::script::{Received, Reply, discovered, scripted_with_limits};

/// A server with a tool `t`, which has an output schema and returns `content`.
fn tool_with(schema: Value, content: Value) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => {
            let tool = json!({
                "name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema,
            });
            Reply::result(message, &json!({"resultType": "complete", "tools": [tool]}))
        }
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "content": [], "structuredContent": content}),
        ),
    }
}

async fn client_of(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
    limits: ClientLimits,
) -> (McpClient, Received) {
    let (session, received) = scripted_with_limits(&limits, reply);
    let builder = McpClient::builder().session(session).limits(limits);
    let client = builder.build().await.unwrap();
    client.tools().await.unwrap();
    (client, received)
}

/// Returns the outcome of a call whose tool has this schema and returns this value.
async fn outcome(schema: &Value, content: &Value) -> Result<(), String> {
    within(schema, content, ClientLimits::default()).await
}

async fn within(schema: &Value, content: &Value, limits: ClientLimits) -> Result<(), String> {
    let (client, received) = client_of(tool_with(schema.clone(), content.clone()), limits).await;
    match client.call_tool("t", ()).await {
        Ok(_) => Ok(()),
        Err(error @ ClientError::Protocol(_)) => {
            let error = error.to_string();
            let was_called = received.methods().contains(&"tools/call".to_owned());
            let is_unusable = error.contains("was not called");
            assert_eq!(
                was_called, !is_unusable,
                "an unusable schema prevents the call: {error}"
            );
            Err(error)
        }
        Err(other) => panic!("{other}"),
    }
}
