use treenail::mcp_tool;

#[mcp_tool]
fn find() -> u64 {
    7
}

fn main() {
    treenail::server!().tools(find);
}
