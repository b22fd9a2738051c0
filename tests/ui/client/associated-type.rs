use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    type Frame;

    async fn radar(&self) -> Result<u32, ToolError>;
}

fn main() {}
