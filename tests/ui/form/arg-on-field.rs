use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[arg(range = 1..=14)]
    nights: u8,
}

fn main() {}
