use treenail::{mcp_tool, tools};

#[mcp_tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

struct Adder;

fn main() {
    tools![add, Adder];
}
