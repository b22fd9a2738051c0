use treenail::mcp_tool;
use treenail::schema::CallToolResult;
use treenail::tool::Structured;

#[mcp_tool]
fn find() -> Structured<CallToolResult> {
    Structured::new(CallToolResult::text("7")).with_text("seven")
}

fn main() {}
