use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    #[prompt]
    async fn trip(&self, city: String) -> Result<String, ToolError>;
}

fn main() {}
