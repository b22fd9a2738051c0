use treenail::mcp_tool;

#[mcp_tool("find")]
fn find() -> u64 {
    7
}

fn main() {}
