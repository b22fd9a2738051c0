use treenail::mcp_tool;

#[mcp_tool]
fn greet<'a>(name: &'a str) -> String {
    name.to_owned()
}

fn main() {}
