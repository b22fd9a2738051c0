use treenail::mcp_tool;

#[mcp_tool(task(keep = "18446744073709551615d"))]
async fn build(commit: String) -> String {
    commit
}

fn main() {}
