//! Tests of the whole parser.

mod calls;
mod malformed;
mod mentions;
mod pending;
mod random;

use serde_json::{Value, json};
use treenail_schema::{JsonObject, Tool};

use super::{Piece, TextParser, TextToolFormat};

/// Tools of these tests: one requires arguments, the others do not.
pub(super) fn tools() -> Vec<Tool> {
    let tool = |name: &str, schema: Value| {
        let tool = json!({"name": name, "inputSchema": schema});
        serde_json::from_value(tool).unwrap()
    };
    let place = json!({
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
    });
    let none = json!({"type": "object"});
    vec![
        tool("weather.forecast", place),
        tool("clock", none.clone()),
        tool(
            "list-files",
            json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        ),
        tool("get_time", none),
    ]
}

pub(super) fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

pub(super) fn call(name: &str, input: Value) -> Piece {
    let input: JsonObject = serde_json::from_value(input).unwrap();
    let name = name.to_owned();
    Piece::Call { name, input }
}

/// Merges consecutive text pieces of a message.
pub(super) fn joined(pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

pub(super) fn parse(format: &TextToolFormat, message: &str) -> Vec<Piece> {
    let mut parser = TextParser::new(format, &tools());
    let mut pieces = parser.push(message);
    pieces.extend(parser.finish());
    joined(pieces)
}
