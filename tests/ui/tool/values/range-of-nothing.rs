use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(range = 7..=1)] a: u8) -> u8 {
    a + a
}

fn main() {}
