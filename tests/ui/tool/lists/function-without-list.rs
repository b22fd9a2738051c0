use treenail::{mcp_tool, server};

#[mcp_tool]
fn find() -> u64 {
    7
}

fn main() {
    server!().tools(find);
}
