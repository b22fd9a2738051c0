use treenail::mcp_form;

#[mcp_form]
struct Booking {
    first_night: String,
    #[field(name = "first_night")]
    day: String,
}

fn main() {}
