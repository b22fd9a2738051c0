use treenail::mcp_tool;

#[mcp_tool]
fn greet(name: &str) -> String {
    format!("Hello {name}")
}

fn main() {}
