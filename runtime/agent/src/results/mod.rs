//! Tool results and failures as content for a model.
//!
//! `describe` replaces content that a model does not support, `structured` detects structured content that is already
//! in the text, `truncate` shortens long results, and `failure` describes calls without a result.

mod describe;
mod failure;
mod structured;
#[cfg(test)]
mod tests;
mod truncate;

use treenail_schema::{CallToolResult, ContentBlock};

use self::describe::{Piece, describe};

#[cfg(feature = "openai")]
pub(crate) use self::describe::is_base64;
pub(crate) use self::failure::{CallFailure, error_text, explain_task_only};
use self::structured::is_in_text;
use self::truncate::truncate;
use crate::ModelCapabilities;

/// Converts a tool result to content that the model supports, in the tool's order: text, and images and audio if
/// supported. It has at most `max_bytes` bytes of text, base64 and media types, but at least 256 are allowed; truncated content is
/// marked.
///
/// Structured content is appended, unless the text already contains it, as servers are asked to ensure (SRV-TOOL-13).
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
        pieces.push(Piece::Text("[the tool returned nothing]".into()));
    }
    truncate(pieces, max_bytes)
}
