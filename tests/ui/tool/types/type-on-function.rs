use treenail::mcp_type;

#[mcp_type]
fn find() {}

fn main() {}
