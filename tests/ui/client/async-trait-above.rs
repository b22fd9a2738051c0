use std::future::Future;
use std::pin::Pin;

use treenail::{ToolError, mcp_client};

// The expansion of an `#[async_trait]` above.
#[mcp_client]
trait Weather {
    fn radar<'life0, 'async_trait>(
        &'life0 self,
    ) -> Pin<Box<dyn Future<Output = Result<u32, ToolError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait;
}

fn main() {}
