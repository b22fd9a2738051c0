use treenail::mcp_tool;

#[mcp_tool]
fn double(#[arg(range = 1..=7)] a: u128) -> String {
    (a * 2).to_string()
}

fn main() {}
