//! Tools that change the lists of the server.

use treenail::prelude::*;
use treenail::server::Component;

pub(crate) struct ListChanges;

#[mcp_tool]
impl ListChanges {
    /// Changes the list of tools.
    #[tool]
    fn test_trigger_tool_change(cx: &Context) -> treenail::Result<&'static str> {
        remove_and_restore(cx, &Component::tool("test_changed_tool"))?;
        Ok("The list of tools has changed")
    }

    /// Changes the list of prompts.
    #[tool]
    fn test_trigger_prompt_change(cx: &Context) -> treenail::Result<&'static str> {
        remove_and_restore(cx, &Component::prompt("test_changed_prompt"))?;
        Ok("The list of prompts has changed")
    }

    /// Is removed for a moment when the list of tools changes.
    #[tool(read_only)]
    fn test_changed_tool() -> &'static str {
        "Still here"
    }

    /// Is removed for a moment when the list of prompts changes.
    #[prompt]
    fn test_changed_prompt() -> &'static str {
        "Still here"
    }
}

/// Removes `item` from its list and adds it again.
fn remove_and_restore(cx: &Context, item: &Component) -> treenail::Result<()> {
    cx.server()
        .edit(|registry| registry.disable(item.clone()))?;
    cx.server().edit(|registry| registry.enable(item.clone()))
}
