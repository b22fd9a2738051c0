use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(default = 2)]
    guests: Option<u8>,
}

fn main() {}
