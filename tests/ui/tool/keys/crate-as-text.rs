use treenail::mcp_tool;

#[mcp_tool(crate = "treenail")]
fn find() -> u64 {
    7
}

fn main() {}
