use treenail::mcp_tool;

#[mcp_tool]
fn visit(#[arg(name = "")] place: u64) -> u64 {
    place
}

fn main() {}
