//! Tools that send log messages and progress.

use std::time::Duration;

use tokio::time::sleep;
use treenail::prelude::*;
use treenail::schema::LoggingLevel;

/// Duration of each step.
const STEP: Duration = Duration::from_millis(50);

pub(crate) struct Progress;

#[mcp_tool]
#[allow(deprecated, reason = "logging is deprecated, but tested")]
impl Progress {
    /// Sends log messages while it runs.
    #[tool(read_only)]
    async fn test_tool_with_logging(cx: &Context) -> &'static str {
        cx.log(LoggingLevel::Info, "Tool execution started").await;
        sleep(STEP).await;
        cx.log(LoggingLevel::Info, "Tool processing data").await;
        sleep(STEP).await;
        cx.log(LoggingLevel::Info, "Tool execution completed").await;
        "Tool with logging executed successfully"
    }

    /// Sends a log message to clients that request it.
    #[tool(read_only)]
    async fn test_logging_tool(cx: &Context) -> &'static str {
        cx.log(LoggingLevel::Info, "Called").await;
        "Logged what the caller wanted to read"
    }

    /// Reports its progress.
    #[tool(read_only)]
    async fn test_tool_with_progress(cx: &Context) -> &'static str {
        cx.progress(0).total(100).await;
        sleep(STEP).await;
        cx.progress(50).total(100).await;
        sleep(STEP).await;
        cx.progress(100).total(100).await;
        "Tool with progress executed successfully"
    }

    /// Closes the stream of its caller before it finishes.
    #[tool(read_only)]
    async fn test_reconnection(cx: &Context) -> &'static str {
        cx.close_sse_stream();
        sleep(2 * STEP).await;
        "Reconnection test completed successfully"
    }
}
