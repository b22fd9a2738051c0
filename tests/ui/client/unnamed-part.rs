use treenail::{ToolError, mcp_client, mcp_tool};

#[mcp_client]
trait Part {
    async fn count(&self) -> Result<u32, ToolError>;
}

#[mcp_client]
trait Whole {
    #[namespace]
    fn part(&self) -> &impl Part;
}

struct Board;

#[mcp_tool]
impl Part for Board {
    async fn count(&self) -> Result<u32, ToolError> {
        Ok(1)
    }
}

struct All(Board);

#[mcp_tool]
impl Whole for All {
    fn part(&self) -> &impl Part {
        &self.0
    }
}

fn main() {}
