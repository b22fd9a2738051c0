use treenail::mcp_tool;

#[mcp_tool(task(always, after = "1s"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
