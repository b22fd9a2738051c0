use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[prompt]
    fn visit(#[arg(complete = Self::places)] place: String) -> String {
        place
    }

    fn places(typed: &str) -> Vec<String> {
        vec![typed.to_owned()]
    }
}

fn main() {}
