use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://here", annotations = 7)]
    fn here() -> String {
        String::new()
    }
}

fn main() {}
