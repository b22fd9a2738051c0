use treenail::mcp_tool;

#[mcp_tool(icons = "https://example.com/map.png")]
fn find() -> u64 {
    7
}

fn main() {}
