use treenail::prelude::*;

#[mcp_form]
struct Guest {
    name: String,
}

#[mcp_tool]
fn greet(guest: Guest) -> String {
    guest.name
}

fn main() {}
