use treenail::mcp_tool;

#[mcp_tool(scope = " ")]
fn one() {}

fn main() {}
