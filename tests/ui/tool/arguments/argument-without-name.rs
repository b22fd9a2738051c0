use treenail::mcp_tool;

#[mcp_tool]
fn visit(_: u64) -> u64 {
    7
}

fn main() {}
