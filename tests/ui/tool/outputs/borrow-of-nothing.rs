use treenail::mcp_tool;

#[mcp_tool]
fn greet() -> Option<&str> {
    None
}

fn main() {}
