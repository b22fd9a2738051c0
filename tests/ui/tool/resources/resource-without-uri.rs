use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource(mime_type = "text/plain")]
    fn place() -> String {
        String::new()
    }
}

fn main() {}
