use treenail::mcp_tool;

const SECONDS: u64 = 30;

#[mcp_tool(timeout = SECONDS)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
