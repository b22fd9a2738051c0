use treenail::mcp_tool;

struct Map {
    scale: u8,
}

#[mcp_tool]
impl Map {
    #[tool]
    fn find(&self, #[arg(default = self.scale)] scale: u8) -> u8 {
        scale
    }
}

fn main() {}
