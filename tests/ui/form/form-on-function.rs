use treenail::mcp_form;

#[mcp_form]
fn book() {}

fn main() {}
