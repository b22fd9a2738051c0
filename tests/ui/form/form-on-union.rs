use treenail::mcp_form;

#[mcp_form]
union Booking {
    nights: u8,
    guests: u8,
}

fn main() {}
