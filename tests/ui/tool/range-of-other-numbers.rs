use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(range = 1.5..)] a: u8) -> u8 {
    a * 2
}

fn main() {}
