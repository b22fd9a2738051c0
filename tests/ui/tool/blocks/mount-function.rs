use treenail::{mcp_tool, server};

#[mcp_tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    server!().mount(add);
}
