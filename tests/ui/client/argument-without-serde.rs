use treenail::{ToolError, mcp_client};

struct City;

#[mcp_client]
trait Weather {
    async fn radar(&self, city: City) -> Result<u32, ToolError>;
}

fn main() {}
