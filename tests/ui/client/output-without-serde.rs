use treenail::{ToolError, mcp_client};

struct Frame;

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<Frame, ToolError>;
}

fn main() {}
