use treenail::{mcp_form, mcp_type};

#[mcp_type]
#[serde(rename_all = "snake_case")]
#[mcp_form]
enum Room {
    ForOne,
}

fn main() {}
