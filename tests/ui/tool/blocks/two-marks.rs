use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    #[prompt]
    fn visit(place: String) -> String {
        place
    }
}

fn main() {}
