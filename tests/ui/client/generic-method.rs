use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar<T>(&self) -> Result<u32, ToolError>;
}

fn main() {}
