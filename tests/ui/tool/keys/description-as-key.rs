use treenail::mcp_tool;

#[mcp_tool(description = "Finds a place.")]
fn find() -> u64 {
    7
}

fn main() {}
