use treenail::{mcp_tool, mcp_type};

#[mcp_type]
enum Failure {
    Lost,
}

#[mcp_tool]
fn find() -> Result<u64, Failure> {
    Err(Failure::Lost)
}

fn main() {}
