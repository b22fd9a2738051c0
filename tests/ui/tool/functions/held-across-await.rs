use std::rc::Rc;

use treenail::mcp_tool;

#[mcp_tool]
async fn find() -> u64 {
    let id = Rc::new(7);
    std::future::ready(()).await;
    *id
}

fn main() {}
