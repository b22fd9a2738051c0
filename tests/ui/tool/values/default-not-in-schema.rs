use treenail::__private_0_1_0::{schemars, serde};
use treenail::mcp_tool;

#[derive(Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "serde")]
#[schemars(crate = "schemars")]
struct Place {
    id: u64,
}

#[mcp_tool]
fn visit(#[arg(default)] place: Place) -> u64 {
    place.id
}

fn main() {}
