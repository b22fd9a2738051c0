use treenail::{mcp_tool, mcp_type};

#[mcp_type]
enum Failure {
    Lost,
}

struct Map;

#[mcp_tool]
impl Map {
    /// Explains a place.
    #[prompt]
    fn place(&self) -> Result<String, Failure> {
        Err(Failure::Lost)
    }
}

fn main() {}
