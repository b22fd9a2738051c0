use treenail::mcp_form;

#[mcp_form]
struct Booking {
    guests: std::collections::HashMap<String, u8>,
}

fn main() {}
