use treenail::mcp_form;

#[mcp_form]
struct Address {
    street: String,
}

#[mcp_form]
struct Booking {
    address: Address,
}

fn main() {}
