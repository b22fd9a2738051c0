use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn mcp_tools(&self) -> Result<u32, ToolError>;
}

fn main() {}
