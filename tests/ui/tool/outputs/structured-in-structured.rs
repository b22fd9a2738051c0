use treenail::tool::Structured;
use treenail::{ToolError, mcp_tool};

#[mcp_tool]
async fn find() -> Result<Structured<Structured<u64>>, ToolError> {
    Ok(Structured::new(Structured::new(7)).with_text("seven"))
}

fn main() {}
