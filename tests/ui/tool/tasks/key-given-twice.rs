use treenail::mcp_tool;

#[mcp_tool(task(resume, keep = "1d", keep = "2d"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
