use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://here")]
    #[resource("map://there")]
    fn place(&self) -> String {
        String::new()
    }
}

fn main() {}
