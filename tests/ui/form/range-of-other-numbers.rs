use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(range = 0.5..)]
    nights: u8,
}

fn main() {}
