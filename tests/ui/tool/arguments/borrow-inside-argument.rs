use treenail::mcp_tool;

#[mcp_tool]
fn greet(name: Option<&str>) -> String {
    format!("Hello {name:?}")
}

fn main() {}
