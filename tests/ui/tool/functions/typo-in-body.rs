use treenail::mcp_tool;

#[mcp_tool]
fn add(a: i64, b: i64) -> i64 {
    a + bee
}

fn main() {}
