use std::cell::Cell;

use treenail::mcp_tool;

struct Map {
    found: Cell<u64>,
}

#[mcp_tool]
impl Map {
    #[tool]
    async fn find(&self) -> u64 {
        self.found.get()
    }
}

fn main() {}
