use treenail::{mcp_tool, mcp_type};

#[mcp_type(input)]
struct Search {
    pattern: String,
}

#[mcp_tool]
fn repeat(search: Search) -> Search {
    search
}

fn main() {}
