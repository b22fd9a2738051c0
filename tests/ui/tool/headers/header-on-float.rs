use treenail::mcp_tool;

#[mcp_tool]
fn scale(#[arg(header = "Factor")] factor: f64) -> f64 {
    factor
}

fn main() {}
