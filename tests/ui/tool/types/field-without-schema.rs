use treenail::{mcp_tool, mcp_type};

struct Point {
    x: f64,
}

#[mcp_type]
#[derive(Default)]
struct Place {
    name: String,
    at: Vec<Point>,
}

#[mcp_tool]
fn visit(place: Place) -> Place {
    place
}

fn main() {}
