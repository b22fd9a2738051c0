use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(format = "emial")]
    sender: String,
}

fn main() {}
