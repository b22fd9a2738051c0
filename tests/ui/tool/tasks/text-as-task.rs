use treenail::mcp_tool;

#[mcp_tool(task = "always")]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
