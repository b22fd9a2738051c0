//! Arguments with keys by which `serde_json` recognizes its own types.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail::dynamic::{Feature, Fold, Tool};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::covering::covering;
use crate::support::peer::{Peer, text};

const FORGED: &str = r#"{"$serde_json::private::RawValue":"{\"mode\":\"read\"}"}"#;

/// Makes each kind of tool with this schema. Their results are the text of the arguments.
fn tools(schema: &Value) -> [Feature; 4] {
    let tool = |name: &str| Tool::new(name).input(schema.clone());
    [
        tool("handler").handler(|_, arguments| async move { arguments.text().to_owned() }),
        tool("blocking").blocking(|_, arguments| arguments.text().to_owned()),
        tool("stream")
            .fold(Fold::Concat)
            .stream(|_, arguments| tokio_stream::iter([arguments.text().to_owned()])),
        tool("raw_value").handler(|_, arguments| async move {
            let raw: Box<RawValue> = arguments.parse()?;
            Ok::<_, ToolError>(raw.get().to_owned())
        }),
    ]
}

async fn check(revision: Revision, schema: &Value, arguments: &str, expected: Option<&str>) {
    for feature in tools(schema) {
        let server = treenail::server!().add(feature).build().unwrap();
        let mut peer = Peer::connect(&server, revision).await;
        let listed = peer.request("tools/list", json!({})).await;
        let params = json!({"name": listed["result"]["tools"][0]["name"], "arguments": "?"});
        let message = peer.message(&json!(1), "tools/call", params).to_string();
        peer.send_line(&message.replace("\"?\"", arguments)).await;
        let result = peer.receive("tools/call").await["result"].take();
        if let Some(expected) = expected {
            assert_eq!(text(&result), expected);
        } else {
            assert_eq!(result["isError"], true, "{arguments}: {result}");
            let reason = "- the arguments: a key that starts with `$serde_json::private::` is not \
                allowed\n";
            assert!(text(&result).contains(reason), "{result}");
        }
    }
}

#[tokio::test]
async fn forged_arguments_do_not_pass_the_validation() {
    let mode = json!({
        "type": "object",
        "properties": {"mode": {"enum": ["read"]}, "n": {"type": "integer"}},
        "required": ["mode"],
        "additionalProperties": false,
    });
    let nested = r#"{"mode":"read","n":{"$serde_json::private::RawValue":"5"}}"#;
    let honest = r#"{"mode":"read"}"#;
    for revision in covering("SRV-TOOL-17") {
        check(revision, &mode, FORGED, None).await;
        let escaped = FORGED.replace("{\"$", "{ \"\\u0024");
        check(revision, &mode, &escaped, None).await;
        check(revision, &mode, nested, None).await;
        check(revision, &mode, honest, Some(honest)).await;
    }
}

#[tokio::test]
async fn a_raw_value_is_valid_json() {
    let open = json!({"type": "object"});
    let not_json = r#"{"$serde_json::private::RawValue":"not json"}"#;
    let honest = r#"{"$ref":{"$schema": 1}}"#;
    let nested = format!(r#"{{"a":[{not_json}]}}"#);
    for revision in covering("SRV-TOOL-17") {
        check(revision, &open, not_json, None).await;
        check(revision, &open, &nested, None).await;
        check(revision, &open, honest, Some(honest)).await;
    }
}
