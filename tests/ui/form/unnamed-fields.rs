use treenail::mcp_form;

#[mcp_form]
struct Booking(String);

fn main() {}
