use treenail::prelude::*;

#[mcp_tool]
#[tool]
fn find() -> u64 {
    7
}

fn main() {}
