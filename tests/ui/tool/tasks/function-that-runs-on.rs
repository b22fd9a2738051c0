use treenail::mcp_tool;

#[mcp_tool(task)]
fn build(commit: String) -> String {
    commit
}

fn main() {}
