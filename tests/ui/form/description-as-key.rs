use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(description = "How long")]
    nights: u8,
}

fn main() {}
