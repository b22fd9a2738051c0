use treenail::mcp_tool;

#[mcp_tool]
fn find(id: String) -> u64 {
    id.parse()?
}

fn main() {}
