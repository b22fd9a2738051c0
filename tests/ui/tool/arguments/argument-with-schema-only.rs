use treenail::__private_0_1_0::schemars;
use treenail::mcp_tool;

#[derive(schemars::JsonSchema)]
#[schemars(crate = "schemars")]
struct Place {
    id: u64,
}

#[mcp_tool]
fn visit(place: Place) -> u64 {
    place.id
}

fn main() {}
