use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn find() -> u64 {
        7
    }

    #[tool]
    fn find() -> u64 {
        8
    }
}

fn main() {}
