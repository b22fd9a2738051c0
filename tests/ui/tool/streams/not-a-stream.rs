use treenail::mcp_tool;

#[mcp_tool(stream)]
fn frames() -> Vec<u64> {
    vec![1]
}

fn main() {}
