use treenail::mcp_tool;

#[mcp_tool]
fn greet(name: Srting) -> String {
    format!("Hello {name}")
}

fn main() {}
