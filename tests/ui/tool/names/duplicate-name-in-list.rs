use treenail::{mcp_tool, tools};

#[mcp_tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

mod floats {
    #[treenail::mcp_tool]
    pub fn add(a: f64, b: f64) -> f64 {
        a + b
    }
}

fn main() {
    tools![add, floats::add];
}
