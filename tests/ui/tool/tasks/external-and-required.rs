use treenail::mcp_tool;

#[mcp_tool(task(external, required))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
