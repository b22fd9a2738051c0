use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn find(self: &Self) -> u64 {
        7
    }
}

fn main() {}
