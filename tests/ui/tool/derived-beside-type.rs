use treenail::__private::serde::Serialize;
use treenail::mcp_type;

#[mcp_type]
#[derive(Serialize)]
struct Place {
    id: u64,
}

fn main() {}
