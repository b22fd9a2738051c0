use treenail::mcp_form;

#[mcp_form]
enum Room {}

fn main() {}
