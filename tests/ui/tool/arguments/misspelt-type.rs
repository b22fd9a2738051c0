use treenail::mcp_tool;

#[mcp_tool]
fn visit(place: Plaaace) -> u64 {
    place.id
}

fn main() {}
