//! What tools gave, or why they gave nothing, as a model can read it.

mod failure;

use treenail_schema::{CallToolResult, ContentBlock};

pub(crate) use self::failure::{CallFailure, error_text};
use crate::tool_loop::ModelFeatures;

/// The result of a tool as content that the model takes, at most `max_bytes` of it.
pub(crate) fn for_model(
    result: &CallToolResult,
    _features: ModelFeatures,
    _max_bytes: usize,
) -> Vec<ContentBlock> {
    result.content.clone()
}
