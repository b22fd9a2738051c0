use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(name = "")]
    day: String,
}

fn main() {}
