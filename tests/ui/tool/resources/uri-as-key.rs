use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource(uri = "map://here")]
    fn here() -> String {
        String::new()
    }
}

fn main() {}
