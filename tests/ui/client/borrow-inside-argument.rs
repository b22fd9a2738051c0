use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self, city: Option<&str>) -> Result<u32, ToolError>;
}

fn main() {}
