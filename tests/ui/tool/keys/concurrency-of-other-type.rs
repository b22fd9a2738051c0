use treenail::mcp_tool;

const CALLS: u8 = 2;

#[mcp_tool(max_concurrency = CALLS)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
