use treenail::mcp_tool;

struct Map;

#[mcp_tool(prefix = "map")]
impl Map {
    #[tool]
    fn find(&self) {}
}

fn main() {}
