use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(range = 0..=300)] a: u8) -> u8 {
    a
}

fn main() {}
