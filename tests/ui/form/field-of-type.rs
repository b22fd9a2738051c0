use treenail::mcp_type;

#[mcp_type]
struct Booking {
    #[field(range = 1..)]
    nights: u8,
}

fn main() {}
