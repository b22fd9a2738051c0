use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[cfg(all())]
    #[tool]
    fn find() -> u64 {
        7
    }

    #[cfg(all())]
    #[tool(name = "find")]
    fn search() -> u64 {
        8
    }
}

fn main() {}
