use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(length = 1..=7)] a: u8) -> u8 {
    a * 2
}

fn main() {}
