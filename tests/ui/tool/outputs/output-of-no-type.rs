use treenail::mcp_tool;

#[mcp_tool]
fn find() -> _ {
    7
}

fn main() {}
