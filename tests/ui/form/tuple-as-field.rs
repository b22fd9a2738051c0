use treenail::mcp_form;

#[mcp_form]
struct Booking {
    days: (String, String),
}

fn main() {}
