//! Tools that stream: what their items become, what ends them early, and what is told of them on the way.

mod station;
mod tools;

mod flow;
mod results;
mod stops;
mod told;

use serde_json::{Value, json};
use treenail::schema::Revision;

use self::tools::Frame;
use crate::peer::MODERN;

/// The texts of all blocks; other blocks are told by their type.
fn texts(result: &Value) -> Value {
    let blocks = result["content"].as_array().unwrap().iter();
    let text = |block: &Value| block.get("text").unwrap_or(&block["type"]).clone();
    blocks.map(text).collect()
}

/// The texts of `content` as a peer of a revision gets them, where `audio` is a block of that type.
fn spoken(content: &Value, revision: Revision) -> Value {
    let spoken = |block: &Value| match revision {
        Revision::V2024_11_05 if block == "audio" => {
            "[audio of type audio/wav, which this client does not support]".into()
        }
        _ => block.clone(),
    };
    content.as_array().unwrap().iter().map(spoken).collect()
}

/// What a peer of a revision gets of structured content: SRV-TOOL-13, SRV-TOOL-14.
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
