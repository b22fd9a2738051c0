use treenail::mcp_form;

#[mcp_form]
#[mcp_form]
struct Booking {
    nights: u8,
}

fn main() {}
