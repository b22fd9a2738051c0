use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    #[tool(name = "radar picture")]
    async fn radar(&self) -> Result<u32, ToolError>;
}

fn main() {}
