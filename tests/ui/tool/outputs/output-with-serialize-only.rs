use treenail::__private_0_1_0::serde;
use treenail::mcp_tool;

#[derive(serde::Serialize)]
#[serde(crate = "serde")]
struct Place {
    id: u64,
}

#[mcp_tool]
fn find() -> Place {
    Place { id: 7 }
}

fn main() {}
