use std::sync::Arc;

use treenail::mcp_tool;

struct Database;

#[mcp_tool]
fn find(database: Arc<Database>, id: u64) -> u64 {
    let _ = database;
    id
}

fn main() {}
