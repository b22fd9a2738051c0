use treenail::mcp_tool;

#[mcp_tool(meta = 7)]
fn find() -> u64 {
    7
}

fn main() {}
