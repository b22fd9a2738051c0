use std::error::Error;

use treenail::mcp_tool;

#[mcp_tool]
fn find() -> Result<u64, Box<dyn Error>> {
    Ok(7)
}

fn main() {}
