use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

struct Station;

#[mcp_client]
impl Weather for Station {
    async fn radar(&self) -> Result<u32, ToolError> {
        Ok(1)
    }
}

fn main() {}
