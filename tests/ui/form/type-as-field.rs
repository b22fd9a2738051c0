use treenail::mcp_form;

struct Room;

#[mcp_form]
struct Booking {
    room: Room,
}

fn main() {}
