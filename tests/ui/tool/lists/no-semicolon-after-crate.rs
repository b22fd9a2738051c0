use treenail::{mcp_tool, tools};

#[mcp_tool]
fn find() -> u64 {
    7
}

fn main() {
    tools![crate = treenail, find];
}
