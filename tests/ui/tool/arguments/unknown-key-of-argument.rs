use treenail::mcp_tool;

#[mcp_tool]
fn add(#[arg(rnage = 1..=7)] a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
