use treenail::{Form, mcp_form};

#[mcp_form]
enum Room {
    Single,
    Double,
}

fn main() {
    <Room as Form>::schema();
}
