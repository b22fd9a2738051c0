//! Streaming tools: combined results, early stops, and progress notifications.

mod flow;
mod progress;
mod results;
mod stops;

use serde_json::{Value, json};
use treenail::schema::Revision;

use super::station;
use crate::support::peer::MODERN;
use crate::support::stream_tools::Frame;

/// Returns the texts of all blocks, and the type of blocks without text.
fn texts(result: &Value) -> Value {
    let blocks = result["content"].as_array().unwrap().iter();
    let text = |block: &Value| block.get("text").unwrap_or(&block["type"]).clone();
    blocks.map(text).collect()
}

/// Returns the texts of `content` for a peer of a revision; `audio` represents a block of that type.
fn downgraded(content: &Value, revision: Revision) -> Value {
    let downgraded = |block: &Value| match revision {
        Revision::V2024_11_05 if block == "audio" => {
            "[audio of type audio/wav, which this client does not support]".into()
        }
        _ => block.clone(),
    };
    content.as_array().unwrap().iter().map(downgraded).collect()
}

/// Returns the structured content for a peer of a revision: SRV-TOOL-13, SRV-TOOL-14.
fn structured(value: &Value, revision: Revision) -> Option<Value> {
    match revision {
        _ if value.is_null() || revision < Revision::V2025_06_18 => None,
        MODERN => Some(value.clone()),
        _ if value.is_object() => Some(value.clone()),
        _ => Some(json!({ "result": value })),
    }
}

fn frame(at: u32) -> Value {
    json!(Frame::new(at))
}
