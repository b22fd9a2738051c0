use treenail::mcp_form;

#[mcp_form]
enum Room {
    #[field(default)]
    Single,
    Double,
}

fn main() {}
