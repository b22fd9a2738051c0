use treenail::mcp_tool;

#[mcp_tool]
fn add(&self, a: i64, b: i64) -> i64 {
    self.base + a + b
}

fn main() {}
