use std::sync::{Arc, Mutex};

use treenail::{mcp_tool, server};

struct Map;

#[mcp_tool]
impl Map {
    /// Counts the places.
    #[tool]
    fn count(&self) -> u64 {
        7
    }
}

fn main() {
    server!().mount(Arc::new(Mutex::new(Map)));
}
