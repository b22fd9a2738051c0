use std::future::Future;
use std::pin::Pin;

use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    fn radar(&self) -> Pin<Box<dyn Future<Output = Result<u32, ToolError>> + Send + '_>>;
}

fn main() {}
