use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(default = 1)] a: Option<u8>) -> u8 {
    a.unwrap_or_default()
}

fn main() {}
