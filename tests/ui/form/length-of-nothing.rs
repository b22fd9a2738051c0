use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(length = 5..5)]
    name: String,
}

fn main() {}
