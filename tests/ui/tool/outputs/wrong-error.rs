use treenail::mcp_tool;

struct Lost;

#[mcp_tool]
fn find() -> Result<u64, Lost> {
    Err(Lost)
}

fn main() {}
