use treenail::mcp_tool;

#[mcp_tool]
fn add(a: u8, #[arg(default = a)] b: u8) -> u8 {
    a + b
}

fn main() {}
