use treenail::mcp_tool;

#[mcp_tool]
fn greet(#[arg(range = 1..=7)] name: String) -> String {
    format!("Hello {name}")
}

fn main() {}
