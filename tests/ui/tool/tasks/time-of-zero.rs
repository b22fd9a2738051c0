use treenail::mcp_tool;

#[mcp_tool(task(after = "0ms"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
