use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Alerts {
    async fn list(&self) -> Result<u32, ToolError>;
}

#[mcp_client]
trait Weather {
    #[mcp_tool]
    #[namespace]
    fn alerts(&self) -> &impl Alerts;
}

fn main() {}
