use treenail::mcp_tool;

#[mcp_tool]
fn greet(name: String) -> Srting {
    format!("Hello {name}")
}

fn main() {}
