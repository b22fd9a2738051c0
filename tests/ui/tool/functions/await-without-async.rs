use treenail::mcp_tool;

#[mcp_tool]
fn find() -> u64 {
    std::future::ready(7).await
}

fn main() {}
