use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://places")]
    fn here() -> String {
        String::new()
    }

    #[resource("map://places")]
    fn there() -> String {
        String::new()
    }
}

fn main() {}
