use treenail::mcp_tool;

#[mcp_tool]
async fn forever() -> ! {
    std::future::pending().await
}

fn main() {}
