use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("places/here")]
    fn place() -> String {
        String::new()
    }
}

fn main() {}
