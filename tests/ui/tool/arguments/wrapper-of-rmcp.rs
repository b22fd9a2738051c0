use treenail::{mcp_tool, mcp_type};

#[mcp_type]
struct Find {
    name: String,
}

#[mcp_tool]
fn find(Parameters(Find { name }): Parameters<Find>) -> String {
    name
}

fn main() {}
