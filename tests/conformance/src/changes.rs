//! Tools that change what the server offers.

use treenail::Component;
use treenail::prelude::*;

pub(crate) struct Changes;

#[mcp_tool]
impl Changes {
    /// Changes the list of tools.
    #[tool]
    fn test_trigger_tool_change(cx: &Context) -> treenail::Result<&'static str> {
        touch(cx, &Component::tool("test_changed_tool"))?;
        Ok("The list of tools has changed")
    }

    /// Changes the list of prompts.
    #[tool]
    fn test_trigger_prompt_change(cx: &Context) -> treenail::Result<&'static str> {
        touch(cx, &Component::prompt("test_changed_prompt"))?;
        Ok("The list of prompts has changed")
    }

    /// Is not there for a moment when the list of tools changes.
    #[tool(read_only)]
    fn test_changed_tool() -> &'static str {
        "Still here"
    }

    /// Is not there for a moment when the list of prompts changes.
    #[prompt]
    fn test_changed_prompt() -> &'static str {
        "Still here"
    }
}

/// Takes `item` off its list and puts it back.
fn touch(cx: &Context, item: &Component) -> treenail::Result<()> {
    cx.server().edit(|offer| offer.disable(item.clone()))?;
    cx.server().edit(|offer| offer.enable(item.clone()))
}
