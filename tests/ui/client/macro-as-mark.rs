use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    #[mcp_tool]
    async fn forecast(&self, city: String) -> Result<String, ToolError>;
}

fn main() {}
