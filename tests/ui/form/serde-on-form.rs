use treenail::mcp_form;

#[mcp_form]
#[serde(rename_all = "camelCase")]
struct Booking {
    nights_there: u8,
}

fn main() {}
