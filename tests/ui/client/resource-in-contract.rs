use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    #[resource("weather://places")]
    async fn places(&self) -> Result<String, ToolError>;
}

fn main() {}
