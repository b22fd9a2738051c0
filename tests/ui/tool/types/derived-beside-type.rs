use treenail::__private_0_1_0::serde::Serialize;
use treenail::mcp_type;

#[mcp_type]
#[derive(Serialize)]
struct Place {
    id: u64,
}

fn main() {}
