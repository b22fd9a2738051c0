use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(length = 1..=3)]
    guests: u8,
}

fn main() {}
