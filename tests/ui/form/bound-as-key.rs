use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(max = 14)]
    nights: u8,
}

fn main() {}
