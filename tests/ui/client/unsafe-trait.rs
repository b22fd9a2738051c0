use treenail::{ToolError, mcp_client};

#[mcp_client]
unsafe trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

fn main() {}
