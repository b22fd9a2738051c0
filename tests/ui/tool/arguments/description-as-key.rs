use treenail::mcp_tool;

#[mcp_tool]
fn find(#[arg(desc = "How many")] days: u8) -> u8 {
    days
}

fn main() {}
