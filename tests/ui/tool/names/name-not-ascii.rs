use treenail::mcp_tool;

#[mcp_tool]
fn météo() {}

fn main() {}
