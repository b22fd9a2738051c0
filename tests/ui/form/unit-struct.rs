use treenail::mcp_form;

#[mcp_form]
struct Booking;

fn main() {}
