//! Tool results and failures as content for a model.
//!
//! `describe` replaces content that a model does not support, `structured` detects structured content that the
//! content blocks contain already, `truncate` shortens long results, and `failure` describes calls without a result.

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
pub(crate) use self::describe::media_bytes;
pub(crate) use self::failure::{CallFailure, error_text, explain_task_only};
use self::structured::is_in_content;
use self::truncate::{omit_media, truncate};
use crate::{ModelCapabilities, ToolLoopLimits};

/// Converts a tool result to content that the model supports, in the tool's order: text, and images and audio if
/// supported. Text has at most [`ToolLoopLimits::result_bytes`] bytes, but at least 256 are allowed. Media have at most
/// [`ToolLoopLimits::media_bytes`] bytes of base64 and media types. Truncated content is marked.
///
/// Structured content is appended, unless the content blocks already contain it, as servers are asked to ensure (SRV-TOOL-13).
pub(crate) fn for_model(
    result: &CallToolResult,
    capabilities: ModelCapabilities,
    limits: &ToolLoopLimits,
) -> Vec<ContentBlock> {
    let mut pieces: Vec<_> = result
        .content
        .iter()
        .map(|block| describe(block, capabilities))
        .collect();
    if let Some(content) = &result.structured_content {
        if !is_in_content(content, &result.content) {
            pieces.push(Piece::Text(content.to_string().into()));
        }
    }
    if pieces.is_empty() {
        pieces.push(Piece::Text("[the tool returned nothing]".into()));
    }
    omit_media(&mut pieces, limits.media_bytes);
    truncate(pieces, limits.result_bytes)
}
