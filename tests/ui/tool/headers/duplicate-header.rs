use treenail::mcp_tool;

#[mcp_tool]
fn copy(#[arg(header = "Region")] from: String, #[arg(header = "region")] to: String) -> String {
    from + &to
}

fn main() {}
