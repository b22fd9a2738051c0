use treenail::mcp_tool;

#[mcp_tool(task(after = "500"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
