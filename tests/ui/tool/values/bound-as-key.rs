use treenail::mcp_tool;

#[mcp_tool]
fn find(#[arg(min = 1)] days: u8) -> u8 {
    days
}

fn main() {}
