use treenail::mcp_type;

struct Point {
    x: f64,
}

#[mcp_type]
enum Place {
    Named(String),
    At(Point),
}

fn main() {}
