use treenail::mcp_tool;

#[mcp_tool(name = "find" read_only)]
fn find() -> u64 {
    7
}

fn main() {}
