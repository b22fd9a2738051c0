use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<Vec<Self>, ToolError>;
}

fn main() {}
