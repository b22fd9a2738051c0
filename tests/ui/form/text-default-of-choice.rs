use treenail::mcp_form;

#[mcp_form]
enum Room {
    Single,
    Double,
}

#[mcp_form]
struct Booking {
    #[field(default = "Single")]
    room: Room,
}

fn main() {}
