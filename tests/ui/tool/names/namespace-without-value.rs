use treenail::mcp_tool;

struct Map;

#[mcp_tool(namespace)]
impl Map {
    #[tool]
    fn find() -> u64 {
        7
    }
}

fn main() {}
