use treenail::mcp_tool;

#[mcp_tool(timeout = std::time::Duration::from_secs(30))]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
