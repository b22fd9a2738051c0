use treenail::mcp_tool;

#[mcp_tool(task(run_time = "2 weeks"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
