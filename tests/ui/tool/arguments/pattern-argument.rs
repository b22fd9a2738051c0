use treenail::mcp_tool;

#[mcp_tool]
fn add((a, b): (i64, i64)) -> i64 {
    a + b
}

fn main() {}
