use treenail::mcp_tool;

#[mcp_tool(name = )]
fn find() -> u64 {
    7
}

fn main() {}
