use treenail::mcp_tool;

#[mcp_tool]
fn query(#[arg(header = "")] region: String) -> String {
    region
}

fn main() {}
