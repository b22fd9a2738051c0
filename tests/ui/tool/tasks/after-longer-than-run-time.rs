use treenail::mcp_tool;

#[mcp_tool(task(after = "1h", run_time = "30m"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
