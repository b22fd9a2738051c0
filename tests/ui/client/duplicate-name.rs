use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;

    #[tool(name = "radar")]
    async fn picture(&self) -> Result<u32, ToolError>;
}

fn main() {}
