use treenail::{ToolError, mcp_client, mcp_tool};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

struct Station;

#[mcp_tool]
#[async_trait]
impl Weather for Station {
    async fn radar(&self) -> Result<u32, ToolError> {
        Ok(1)
    }
}

fn main() {
    let _ = treenail::server!().mount(Station);
}
