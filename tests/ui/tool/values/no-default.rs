use treenail::{mcp_tool, mcp_type};

#[mcp_type]
enum Unit {
    Metric,
    Imperial,
}

#[mcp_tool]
fn name(#[arg(default)] unit: Unit) -> String {
    match unit {
        Unit::Metric => "m".into(),
        Unit::Imperial => "ft".into(),
    }
}

fn main() {}
