use treenail::mcp_tool;

struct Map;

impl Map {
    #[mcp_tool]
    fn find(&self) -> u64 {
        7
    }
}

fn main() {}
