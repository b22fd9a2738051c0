use treenail::mcp_tool;

#[mcp_tool]
fn add(#[serde(default)] a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
