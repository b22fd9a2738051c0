use std::collections::HashMap;

use treenail::mcp_type;

struct Point {
    x: f64,
}

#[mcp_type]
#[derive(PartialEq, Eq, Hash)]
enum Kind {
    A,
}

#[mcp_type]
struct Places {
    by_kind: HashMap<Kind, Point>,
}

fn main() {}
