use treenail::mcp_tool;

#[mcp_tool(blocking)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
