use treenail::mcp_form;

#[mcp_form]
struct Booking {
    day: &'static str,
}

fn main() {}
