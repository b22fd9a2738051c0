use treenail::mcp_tool;

#[mcp_tool]
fn count(names: Vec<String>) -> impl Fn() -> usize {
    move || names.len()
}

fn main() {}
