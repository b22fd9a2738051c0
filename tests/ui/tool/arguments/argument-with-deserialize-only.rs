use treenail::__private_0_1_0::serde;
use treenail::mcp_tool;

#[derive(serde::Deserialize)]
#[serde(crate = "serde")]
struct Place {
    id: u64,
}

#[mcp_tool]
fn visit(place: Place) -> u64 {
    place.id
}

fn main() {}
