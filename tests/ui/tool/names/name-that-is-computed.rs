use treenail::mcp_tool;

#[mcp_tool(name = concat!("find", "_place"))]
fn find() -> u64 {
    7
}

fn main() {}
