use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(default = true)]
    guests: u8,
}

fn main() {}
