use treenail::{Context, mcp_tool};

#[mcp_tool]
fn greet(cx: &mut Context, name: String) -> String {
    format!("Hello {name}, {:?}", cx.client_info())
}

fn main() {}
