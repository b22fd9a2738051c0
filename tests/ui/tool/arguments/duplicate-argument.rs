use treenail::mcp_tool;

#[mcp_tool]
fn add(a: u64, #[arg(name = "a")] b: u64) -> u64 {
    a + b
}

fn main() {}
