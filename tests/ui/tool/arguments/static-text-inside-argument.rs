use treenail::mcp_tool;

#[mcp_tool]
fn greet(name: Option<&'static str>) -> bool {
    name.is_some()
}

fn main() {}
