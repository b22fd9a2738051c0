use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn find() -> u64 {
        7
    }
}

fn main() {
    let _ = treenail::server!().tools(Map);
}
