use treenail::mcp_tool;

#[mcp_tool(annotations(read_only_hint = true))]
fn find() -> u64 {
    7
}

fn main() {}
