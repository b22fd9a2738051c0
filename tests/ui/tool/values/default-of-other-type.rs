use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(default = true)] a: u8) -> u8 {
    a * 2
}

fn main() {}
