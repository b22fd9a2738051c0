use treenail::mcp_tool;

#[mcp_tool]
fn query(#[arg(header = "Home Region")] region: String) -> String {
    region
}

fn main() {}
