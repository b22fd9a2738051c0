use treenail::mcp_tool;

#[mcp_tool]
fn find() -> u64;

fn main() {}
