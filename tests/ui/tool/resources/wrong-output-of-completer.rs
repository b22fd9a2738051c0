use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[prompt]
    fn visit(#[arg(complete = Self::places)] place: String) -> String {
        place
    }

    fn places(&self, typed: &str) -> Vec<u64> {
        vec![typed.len() as u64]
    }
}

fn main() {}
