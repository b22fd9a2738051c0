use treenail::{ToolError, mcp_client};

#[mcp_client]
#[async_trait::async_trait]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

fn main() {}
