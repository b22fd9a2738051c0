use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(format = "date")]
    day: u32,
}

fn main() {}
