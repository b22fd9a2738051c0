//! What the system prompt says of tools to a model without tool use.

use treenail_schema::{Tool, ToolChoiceMode};

use crate::tool_loop::text::TextDialect;

/// What the system prompt has to say of these tools; nothing if there are none, or none may be called.
pub(crate) fn instructions(
    tools: &[Tool],
    choice: ToolChoiceMode,
    _dialect: &TextDialect,
) -> String {
    if tools.is_empty() || choice == ToolChoiceMode::None {
        return String::new();
    }
    tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
