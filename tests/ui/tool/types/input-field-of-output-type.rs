use treenail::mcp_type;

#[mcp_type(output)]
struct Point {
    x: f64,
}

#[mcp_type(input)]
struct Search {
    around: Vec<Point>,
}

fn main() {}
