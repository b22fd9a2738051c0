use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Iterator for Map {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        None
    }
}

fn main() {}
