use treenail::mcp_type;

struct Point {
    x: f64,
}

#[mcp_type(output)]
struct Place {
    at: Option<Point>,
}

fn main() {}
