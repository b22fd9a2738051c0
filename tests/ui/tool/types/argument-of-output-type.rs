use treenail::{mcp_tool, mcp_type};

#[mcp_type(output)]
struct Found {
    path: String,
}

#[mcp_tool]
fn again(found: Found) -> Found {
    found
}

fn main() {}
