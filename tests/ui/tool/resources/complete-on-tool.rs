use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    fn visit(#[arg(complete = Self::places)] place: String) -> String {
        place
    }
}

fn main() {}
