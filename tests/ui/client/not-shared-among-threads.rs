use std::rc::Rc;

use treenail::{ToolError, mcp_client, mcp_tool};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

struct Station(Rc<u32>);

#[mcp_tool]
impl Weather for Station {
    async fn radar(&self) -> Result<u32, ToolError> {
        Ok(*self.0)
    }
}

fn main() {}
