use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[field(titel = "Day")]
    day: String,
}

fn main() {}
