use treenail::mcp_type;

#[mcp_type(output)]
struct Point {
    x: f64,
}

#[mcp_type]
struct Place {
    at: Vec<Point>,
}

fn main() {}
