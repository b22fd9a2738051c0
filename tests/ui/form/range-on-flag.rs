use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(range = 0..=1)]
    breakfast: bool,
}

fn main() {}
