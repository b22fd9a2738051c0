use treenail::mcp_tool;

#[mcp_tool(name("find"))]
fn find() -> u64 {
    7
}

fn main() {}
