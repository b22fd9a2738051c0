use treenail::mcp_tool;

#[mcp_tool]
extern "C" fn find() -> u64 {
    7
}

fn main() {}
