use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field = "nights"]
    nights: u8,
}

fn main() {}
