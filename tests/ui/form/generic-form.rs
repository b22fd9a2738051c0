use treenail::mcp_form;

#[mcp_form]
struct Booking<'a> {
    day: &'a str,
}

fn main() {}
