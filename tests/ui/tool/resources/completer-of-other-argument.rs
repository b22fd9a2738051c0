use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[prompt]
    fn visit(#[arg(complete = Self::places)] place: String) -> String {
        place
    }

    fn places(&self, typed: &u64) -> Vec<String> {
        vec![typed.to_string()]
    }
}

fn main() {}
