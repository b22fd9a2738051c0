//! Calculator over the Model Context Protocol.

use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool(read_only)]
fn add(
    /// The first number
    a: i64,
    #[arg(default = 1)] b: i64,
) -> i64 {
    a + b
}

fn server() -> treenail::Result<Server> {
    treenail::server!().tools(tools![add]).build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    server()?.serve_stdio().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn second_number_has_a_default() -> treenail::Result<()> {
        let client = McpClient::builder().server(&server()?).build().await?;
        let sum: i64 = client.call_tool_as("add", json!({"a": 2})).await?;
        assert_eq!(sum, 3);
        Ok(())
    }
}
