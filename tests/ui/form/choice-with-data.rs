use treenail::mcp_form;

#[mcp_form]
enum Room {
    Single,
    Shared(u8),
}

fn main() {}
