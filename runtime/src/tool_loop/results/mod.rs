//! What tools gave, or why they gave nothing, as a model can read it.
//!
//! `told` says in words what a model cannot take, `structured` finds out whether structured content is in the text already,
//! `fit` cuts what is too long, and `failure` tells of calls without a result.

mod failure;
mod fit;
mod structured;
#[cfg(test)]
mod tests;
mod told;

use treenail_schema::{CallToolResult, ContentBlock};

pub(crate) use self::failure::{CallFailure, error_text};
use self::fit::fit;
use self::structured::is_told;
use self::told::{Piece, told};
use crate::tool_loop::ModelFeatures;

/// The result of a tool as content that the model takes, in the order of the tool: text, and images and audio if it takes
/// them. It has at most `max_bytes` bytes of text and base64, or 256 if that is more; where it is cut, it says so.
///
/// Structured content comes last, unless the text says the same, as servers are asked to do (SRV-TOOL-13).
pub(crate) fn for_model(
    result: &CallToolResult,
    features: ModelFeatures,
    max_bytes: usize,
) -> Vec<ContentBlock> {
    let mut pieces: Vec<_> = result
        .content
        .iter()
        .map(|block| told(block, features))
        .collect();
    if let Some(content) = &result.structured_content {
        if !is_told(content, &result.content) {
            pieces.push(Piece::Text(content.to_string().into()));
        }
    }
    if pieces.is_empty() {
        pieces.push(Piece::Text("[the tool has returned nothing]".into()));
    }
    fit(pieces, max_bytes)
}
