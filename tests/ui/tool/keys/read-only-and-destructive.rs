use treenail::mcp_tool;

#[mcp_tool(read_only, destructive)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
