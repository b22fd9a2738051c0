//! The client with a server in memory.

use treenail::prelude::*;

use crate::{connect, list_tools};

/// Adds two integers.
#[mcp_tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::test]
async fn tools_are_listed_with_their_descriptions() -> treenail::Result<()> {
    let server = treenail::server!().tools(tools![add]).build()?;
    let client = McpClient::builder().server(&server).build().await?;
    assert_eq!(list_tools(&client).await?, "add: Adds two integers.\n");
    Ok(())
}

#[tokio::test]
async fn missing_server_is_an_error() {
    assert!(connect(std::iter::empty()).await.is_err());
}
