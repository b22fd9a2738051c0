use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn find(&self) -> u64 {
        7
    }
}

#[mcp_tool]
impl Map {
    #[tool]
    fn count(&self) -> u64 {
        7
    }
}

fn main() {}
