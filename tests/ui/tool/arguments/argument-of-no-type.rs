use treenail::mcp_tool;

#[mcp_tool]
fn visit(place: _) -> u64 {
    7
}

fn main() {}
