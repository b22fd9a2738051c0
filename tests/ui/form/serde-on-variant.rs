use treenail::mcp_form;

#[mcp_form]
enum Room {
    #[serde(rename = "own")]
    Single,
}

fn main() {}
