use treenail::{Stream, ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> impl Stream<Item = Result<u32, ToolError>>;
}

fn main() {}
