use treenail::mcp_tool;

struct Lost;

#[mcp_tool]
fn find() -> Option<Result<u64, Lost>> {
    None
}

fn main() {}
