use treenail::mcp_tool;

struct Map;

#[mcp_tool(read_only)]
impl Map {
    #[tool]
    fn find() -> u64 {
        7
    }
}

fn main() {}
