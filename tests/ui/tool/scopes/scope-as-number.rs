use treenail::mcp_tool;

#[mcp_tool(scope = 7)]
fn one() {}

fn main() {}
