use treenail::mcp_tool;

#[mcp_tool(read_only = "yes")]
fn find() -> u64 {
    7
}

fn main() {}
