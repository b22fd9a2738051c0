use std::future::Future;

use treenail::mcp_tool;

#[mcp_tool]
fn find() -> impl Future<Output = u64> {
    async { 7 }
}

fn main() {}
