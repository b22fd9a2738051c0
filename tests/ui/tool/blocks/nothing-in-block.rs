use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    fn find(&self) {}
}

fn main() {}
