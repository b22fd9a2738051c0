use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(range = 1..=30, default = 31)]
    nights: u8,
}

fn main() {}
