use treenail::prelude::*;

struct Map;

#[mcp_tool]
impl Map {
    #[tool]
    const PLACES: u64 = 7;

    #[tool]
    fn find() -> u64 {
        Self::PLACES
    }
}

fn main() {}
