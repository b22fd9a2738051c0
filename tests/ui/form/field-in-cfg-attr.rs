use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[cfg_attr(unix, field(range = 1..=8))]
    guests: u8,
}

fn main() {}
