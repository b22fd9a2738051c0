use treenail::mcp_tool;

#[mcp_tool(crate = nail)]
fn find() -> u64 {
    7
}

fn main() {}
