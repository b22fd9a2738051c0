use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[prompt]
    fn visit() -> u64 {
        1
    }
}

fn main() {}
