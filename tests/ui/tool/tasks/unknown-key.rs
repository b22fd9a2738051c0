use treenail::mcp_tool;

#[mcp_tool(task(alway))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
