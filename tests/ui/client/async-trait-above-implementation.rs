use treenail::{ToolError, mcp_client, mcp_tool};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

struct Station;

// The expansion of an `#[async_trait]` above.
#[mcp_tool]
impl Weather for Station {
    fn radar<'life0, 'async_trait>(
        &'life0 self,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<u32, ToolError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async { Ok(1) })
    }
}

fn main() {
    let _ = treenail::server!().mount(Station);
}
