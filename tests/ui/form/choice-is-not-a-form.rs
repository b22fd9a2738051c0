use treenail::mcp_form;
use treenail::form::Form;

#[mcp_form]
enum Room {
    Single,
    Double,
}

fn main() {
    <Room as Form>::schema();
}
