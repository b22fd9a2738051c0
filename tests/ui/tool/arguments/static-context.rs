use treenail::{Context, mcp_tool};

#[mcp_tool]
fn greet(cx: &'static Context) -> bool {
    cx.is_finished()
}

fn main() {}
