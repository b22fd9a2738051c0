use treenail::mcp_form;

#[mcp_form]
enum Room {
    #[field(name = "two")]
    Double,
    #[field(name = "two")]
    Twin,
}

fn main() {}
