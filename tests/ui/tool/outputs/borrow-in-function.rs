use treenail::mcp_tool;

#[mcp_tool]
fn greeting() -> Box<dyn Fn(&str) -> String> {
    Box::new(|name| format!("Hello, {name}!"))
}

fn main() {}
