//! Calls through a client in memory, as hosts make them.

use treenail::prelude::*;

use crate::server;

async fn connect() -> treenail::Result<McpClient> {
    Ok(McpClient::builder().server(&server()?).build().await?)
}

#[tokio::test]
async fn second_number_has_a_default() -> treenail::Result<()> {
    let client = connect().await?;
    let sum: i64 = client.call_tool_as("add", json!({"a": 2})).await?;
    assert_eq!(sum, 3);
    Ok(())
}

#[tokio::test]
async fn model_reads_why_a_division_fails() -> treenail::Result<()> {
    let client = connect().await?;
    let arguments = json!({"dividend": 1, "divisor": 0});
    let error = client.call_tool_as::<i64>("divide", arguments).await;
    let message = error.unwrap_err().to_string();
    assert!(message.contains("1 cannot be divided by 0"), "{message}");
    Ok(())
}
