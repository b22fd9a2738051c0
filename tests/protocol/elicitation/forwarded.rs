//! Requests of another server that a function passes on.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::{ElicitRequestFormParams, ElicitRequestParams, Revision};

use crate::support::peer::{Peer, text};

/// Passes a form on, whose schema is given as JSON.
#[mcp_tool]
async fn forward_form(cx: &Context, schema: String) -> Result<String, ToolError> {
    let schema: treenail::schema::ElicitSchema = serde_json::from_str(&schema)?;
    let form = ElicitRequestFormParams::new("Which?", schema);
    Ok(cx.forward(ElicitRequestParams::Form(form)).await?)
}

#[tokio::test]
async fn multiple_choices_are_lists_again_in_the_answer() {
    let server = treenail::server!().tools(tools![forward_form]);
    let server = server.build().unwrap();
    let schema = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
        "name": {"type": "string"},
    }});
    let arguments = json!({"schema": schema.to_string()});
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        for (entered, expected) in [
            (json!("a, b"), json!(["a", "b"])),
            (json!(["a", "b"]), json!(["a", "b"])),
            // The server that asked for it reports the error.
            (json!("a, d"), json!("a, d")),
        ] {
            if entered.is_array() && revision == Revision::V2025_06_18 {
                continue;
            }
            let content = json!({"tags": entered, "name": "a, b", "other": 1});
            for (action, expected) in [("accept", &expected), ("decline", &entered)] {
                let mut peer =
                    Peer::connect_as(&server, revision, json!({"elicitation": {}})).await;
                let call = json!({"name": "forward_form", "arguments": arguments});
                let reply = json!({"action": action, "content": content});
                let (answer, _) = peer.converse("tools/call", call, |_| reply.clone()).await;
                let answer: Value = serde_json::from_str(text(&answer["result"])).unwrap();
                let content = json!({"tags": expected, "name": "a, b", "other": 1});
                let expected = json!({"action": action, "content": content});
                assert_eq!(answer, expected, "SRV-ELI-05: {revision}");
            }
        }
    }
}
