use std::future::Future;

use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    fn radar(&self) -> impl Future<Output = Result<u32, ToolError>> + Send;
}

fn main() {}
