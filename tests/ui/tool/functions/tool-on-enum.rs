use treenail::mcp_tool;

#[mcp_tool]
pub enum Place {
    Here,
}

fn main() {}
