use treenail::{mcp_tool, mcp_type};

#[mcp_type]
enum Failure {
    Lost,
}

struct Map;

#[mcp_tool]
impl Map {
    /// Finds a place.
    #[resource("map://place")]
    fn place(&self) -> Result<u64, Failure> {
        Err(Failure::Lost)
    }
}

fn main() {}
