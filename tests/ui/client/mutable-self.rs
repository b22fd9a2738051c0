use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&mut self) -> Result<u32, ToolError>;
}

fn main() {}
