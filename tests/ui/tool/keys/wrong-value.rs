use treenail::mcp_tool;

#[mcp_tool(title = Addition)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
