use treenail::{mcp_tool, tools};

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn find() -> u64 {
        7
    }
}

fn main() {
    tools![Map];
}
