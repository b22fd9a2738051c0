use treenail::mcp_form;

#[mcp_form]
struct Booking {
    #[serde(default)]
    nights: u8,
}

fn main() {}
