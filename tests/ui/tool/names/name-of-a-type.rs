use treenail::mcp_tool;

#[mcp_tool]
fn char(code: u32) -> Option<char> {
    char::from_u32(code)
}

fn main() {}
