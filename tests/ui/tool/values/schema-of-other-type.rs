use treenail::mcp_tool;

struct Place;

#[mcp_tool(schema = Place)]
fn find(id: u64) -> u64 {
    id
}

fn main() {}
