use treenail::{mcp_tool, tools};

#[mcp_tool(blockin)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    tools![add];
    add(1, 2);
}
