use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn find(&self) {}

    #[tool(name = "find")]
    fn search(&self) {}
}

fn main() {}
