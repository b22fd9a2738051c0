use treenail::mcp_form;

#[mcp_form]
struct Booking {
    guests: Vec<String>,
}

fn main() {}
