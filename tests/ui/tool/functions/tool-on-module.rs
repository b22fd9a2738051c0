use treenail::mcp_tool;

#[mcp_tool]
mod map {
    pub fn find() -> u64 {
        7
    }
}

fn main() {}
