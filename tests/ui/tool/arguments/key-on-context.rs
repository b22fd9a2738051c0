use treenail::{Context, mcp_tool};

#[mcp_tool]
fn greet(#[arg(name = "context")] cx: &Context, name: String) -> String {
    format!("Hello {name}, {:?}", cx.client_info())
}

fn main() {}
