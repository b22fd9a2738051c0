use treenail::{Context, mcp_tool};

#[mcp_tool]
fn greet(cx: &Context, name: String, other: &Context) -> String {
    format!("Hello {name}, {:?} {:?}", cx.client_info(), other.client_info())
}

fn main() {}
