use treenail::mcp_tool;

#[mcp_tool(fold = "last")]
fn frames() {}

fn main() {}
