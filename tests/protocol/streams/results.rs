//! Results of complete streams.

use serde_json::{Value, json};
use treenail::schema::Revision;
use treenail::transport::Handled;

use super::station::server;
use super::{frame, structured, texts};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn items_are_combined_by_their_fold() {
    let lines = format!("{}\n{}", frame(1), frame(2));
    let two = json!([frame(1), frame(2)]);
    let table = [
        ("words", 4, json!(["c\\d ea \"b\"\nc\\d "]), json!(null)),
        ("words", 0, json!([]), json!(null)),
        (
            "words_listed",
            2,
            json!([r#"["c\\d ","e"]"#]),
            json!(["c\\d ", "e"]),
        ),
        ("last_word", 2, json!(["e"]), json!(null)),
        ("last_word", 4, json!([]), json!(null)),
        ("last_word", 0, json!([]), json!(null)),
        ("frames", 2, json!([two.to_string()]), two.clone()),
        ("frames", 0, json!(["[]"]), json!([])),
        ("frame_lines", 2, json!([lines]), json!(null)),
        ("last_frame", 2, json!([frame(2).to_string()]), frame(2)),
        ("last_number", 3, json!(["30"]), json!(30)),
        ("ticks", 3, json!([]), json!(null)),
        ("ticks", 0, json!([]), json!(null)),
        ("blocks", 2, json!(["c\\d ", "e"]), json!(null)),
        ("blocks", 0, json!([]), json!(null)),
        ("blocks_joined", 2, json!(["c\\d e"]), json!(null)),
        ("last_block", 2, json!(["e"]), json!(null)),
    ];
    for revision in covering("SRV-TOOL-09, SRV-TOOL-10, SRV-TOOL-13, SRV-TOOL-14") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, to, content, value) in &table {
            let result = peer.call(name, json!({"to": to})).await;
            assert_eq!(texts(&result), *content, "{name} to {to} in {revision}");
            let expected = structured(value, revision);
            assert_eq!(
                result.get("structuredContent"),
                expected.as_ref(),
                "{name} to {to} in {revision}"
            );
            assert_eq!(result.get("isError"), None, "{name} to {to}");
        }
    }
}

#[tokio::test]
async fn blocks_are_downgraded_for_the_revision() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let audio = match revision {
            Revision::V2024_11_05 => {
                "[audio of type audio/wav, which this client does not support]"
            }
            _ => "audio",
        };
        let result = peer.call("blocks", json!({"to": 3})).await;
        assert_eq!(texts(&result), json!(["c\\d ", "e", audio]));
        let result = peer.call("blocks_joined", json!({"to": 5})).await;
        let expected = match revision {
            Revision::V2024_11_05 => json!([format!("c\\d e{audio}c\\d e")]),
            _ => json!(["c\\d e", audio, "c\\d e"]),
        };
        assert_eq!(texts(&result), expected, "{revision}");
    }
}

#[tokio::test]
async fn the_declared_schema_matches_the_fold() {
    let frame = json!({"type": "object", "properties": {
        "at": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }, "required": ["at", "note"]});
    let table = [
        ("words", None),
        (
            "words_listed",
            Some(json!({"type": "array", "items": {"type": "string"}})),
        ),
        ("last_word", None),
        ("frames", Some(json!({"type": "array", "items": frame}))),
        ("frame_lines", None),
        ("last_frame", Some(frame.clone())),
        (
            "last_number",
            Some(json!({"type": "integer", "minimum": 0, "maximum": u32::MAX})),
        ),
        ("ticks", None),
        ("blocks", None),
        (
            "frames_fail",
            Some(json!({"type": "array", "items": frame})),
        ),
    ];
    for revision in covering("SRV-TOOL-05") {
        let mut peer = Peer::connect(&server(), revision).await;
        let answer = peer.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        for (name, schema) in &table {
            let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
            let mut found = tool.get("outputSchema").cloned();
            if let Some(schema) = &mut found {
                forget_titles(schema);
            }
            let told = schema.clone().and_then(|schema| match revision {
                MODERN => Some(schema),
                _ if revision < Revision::V2025_06_18 => None,
                _ if schema["type"] == "object" => Some(schema),
                _ => Some(json!({
                    "type": "object", "properties": {"result": schema}, "required": ["result"],
                    "x-fastmcp-wrap-result": true,
                })),
            });
            assert_eq!(found, told, "{name} in {revision}");
        }
    }
}

/// Removes the parts that are meant for people.
fn forget_titles(schema: &mut Value) {
    for part in [
        "",
        "/items",
        "/properties/result",
        "/properties/result/items",
    ] {
        if let Some(Value::Object(part)) = schema.pointer_mut(part) {
            part.remove("title");
            part.remove("description");
        }
    }
}

#[tokio::test]
async fn streams_borrow_from_arguments() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let id = peer
            .begin("tools/call", json!({"name": "station.names"}))
            .await;
        let answer = peer.receive("tools/call").await;
        let expected = format!("north for {id}, south for {id}, ");
        assert_eq!(text(&answer["result"]), expected);
        assert_eq!(
            text(&peer.call("station.boxed", json!({})).await),
            "northsouth"
        );
    }
}

#[test]
fn a_ready_stream_is_answered_immediately() {
    for token in ["", r#""progressToken":1,"#] {
        let mut connection = server().connect();
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"words","arguments":{{"to":9}},"_meta":{{{token}
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let mut out = Vec::new();
        let received = connection.handle_message(request.as_bytes(), &mut out);
        assert!(matches!(received, Handled::Complete), "{received:?}");
        assert!(out.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"content":"#));
    }
}
