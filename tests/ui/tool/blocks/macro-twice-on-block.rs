use treenail::mcp_tool;

struct Map;

#[mcp_tool]
#[mcp_tool(namespace = "map")]
impl Map {
    #[tool]
    fn find(&self) -> u64 {
        7
    }
}

fn main() {}
