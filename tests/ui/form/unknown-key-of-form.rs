use treenail::mcp_form;

#[mcp_form(title = "Booking")]
struct Booking {
    day: String,
}

fn main() {}
