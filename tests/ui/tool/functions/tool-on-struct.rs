use treenail::mcp_tool;

#[mcp_tool]
struct Map;

fn main() {}
