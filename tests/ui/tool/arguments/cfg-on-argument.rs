use treenail::mcp_tool;

#[mcp_tool]
fn visit(#[cfg(unix)] place: u64) -> u64 {
    place
}

fn main() {}
