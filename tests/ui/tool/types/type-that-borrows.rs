use treenail::{mcp_tool, mcp_type};

#[mcp_type]
struct Place<'a> {
    name: &'a str,
}

#[mcp_tool]
fn visit(place: Place<'_>) -> usize {
    place.name.len()
}

fn main() {}
