use treenail::mcp_tool;

struct Map;

#[mcp_tool(namespace = "map.")]
impl Map {
    #[tool]
    fn find(&self) {}
}

fn main() {}
