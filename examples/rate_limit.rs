//! Server with a global limit of ten tool calls per second. Further calls fail with a request to try again.

use std::time::Duration;

use tower::ServiceBuilder;
use tower::load_shed::error::Overloaded;
use treenail::layer::{BoxError, Request, only};
use treenail::prelude::*;

/// Count the words of a text.
#[mcp_tool(read_only, timeout = Duration::from_secs(10), max_concurrency = 4)]
async fn count_words(text: String) -> usize {
    text.split_whitespace().count()
}

fn server(calls: u64, per: Duration) -> treenail::Result<Server> {
    let limit = ServiceBuilder::new()
        .map_err(explain_overload)
        .load_shed() // without it, calls would wait
        .rate_limit(calls, per);
    Server::builder("words", env!("CARGO_PKG_VERSION"))
        .tools(tools![count_words])
        .layer(only(Request::is_tool_call, limit))
        .build()
}

/// Replaces the error of the limit with a message for the model.
fn explain_overload(error: BoxError) -> BoxError {
    if error.is::<Overloaded>() {
        return "too many calls; wait a second and try again".into();
    }
    error
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    server(10, Duration::from_secs(1))?.serve_stdio().await
}

#[cfg(test)]
#[tokio::test(start_paused = true)]
async fn calls_beyond_the_rate_fail() -> Result<(), Box<dyn std::error::Error>> {
    let server = server(2, Duration::from_secs(1))?;
    let client = McpClient::builder().server(&server).build().await?;
    let text = serde_json::json!({"text": "to be or not"});
    for failed in [None, None, Some(true)] {
        let result = client.call_tool("count_words", &text).await?;
        assert_eq!(result.is_error, failed);
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    let result = client.call_tool("count_words", &text).await?;
    assert_eq!(result.structured_content, Some(4.into()));
    Ok(())
}
