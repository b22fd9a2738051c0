use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[prompt]
    fn visit() {}
}

fn main() {}
