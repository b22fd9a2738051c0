use std::pin::Pin;

use treenail::{Stream, ToolError, mcp_client};

#[mcp_client]
trait Weather {
    fn radar(&self) -> Pin<Box<dyn Stream<Item = Result<u32, ToolError>> + Send>>;
}

fn main() {}
