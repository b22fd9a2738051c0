use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool = "find"]
    fn find() -> u64 {
        7
    }
}

fn main() {}
