use treenail::mcp_tool;

struct Place {
    id: u64,
}

#[mcp_tool]
fn visit(place: Place) -> u64 {
    place.id
}

fn main() {}
