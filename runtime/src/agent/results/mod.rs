//! What tools gave, or why they gave nothing, as a model can read it.
//!
//! `told` says in words what a model cannot take, `structured` finds out whether structured content is in the text already,
//! `fit` cuts what is too long, and `failure` tells of calls without a result.

mod describe;
mod failure;
mod structured;
#[cfg(test)]
mod tests;
mod truncate;

use treenail_schema::{CallToolResult, ContentBlock};

use self::describe::{Piece, describe};
pub(crate) use self::failure::{CallFailure, error_text};
use self::structured::is_in_text;
use self::truncate::truncate;
use crate::agent::ModelCapabilities;

/// The result of a tool as content that the model takes, in the order of the tool: text, and images and audio if it takes
/// them. It has at most `max_bytes` bytes of text and base64, or 256 if that is more; where it is cut, it says so.
///
/// Structured content comes last, unless the text says the same, as servers are asked to do (SRV-TOOL-13).
pub(crate) fn for_model(
    result: &CallToolResult,
    capabilities: ModelCapabilities,
    max_bytes: usize,
) -> Vec<ContentBlock> {
    let mut pieces: Vec<_> = result
        .content
        .iter()
        .map(|block| describe(block, capabilities))
        .collect();
    if let Some(content) = &result.structured_content {
        if !is_in_text(content, &result.content) {
            pieces.push(Piece::Text(content.to_string().into()));
        }
    }
    if pieces.is_empty() {
        pieces.push(Piece::Text("[the tool has returned nothing]".into()));
    }
    truncate(pieces, max_bytes)
}
