use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[mcp_tool]
    fn find(&self) -> u64 {
        7
    }
}

fn main() {}
