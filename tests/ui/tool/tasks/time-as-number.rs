use treenail::mcp_tool;

#[mcp_tool(task(keep = 86400))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
