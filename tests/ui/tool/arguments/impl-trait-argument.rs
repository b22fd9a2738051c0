use treenail::mcp_tool;

#[mcp_tool]
fn greet(name: impl Into<String>) -> String {
    name.into()
}

fn main() {}
