//! Server whose tools run as tasks.

use std::sync::Arc;

use tokio::sync::Notify;
use treenail::prelude::*;

/// Tools that run as tasks, over HTTP.
#[derive(Default)]
pub(crate) struct Yard {
    released: Arc<Notify>,
}

#[mcp_tool]
impl Yard {
    /// Waits until `release` is called.
    #[tool(task(always))]
    async fn report(&self) -> &'static str {
        self.released.notified().await;
        "released"
    }

    /// Lets one `report` end.
    #[tool]
    fn release(&self) {
        self.released.notify_one();
    }

    /// Asks before it ends.
    #[tool(task(always))]
    async fn ask(&self, cx: &Context) -> Result<&'static str, AskError> {
        // A function that asks at once asks within the call.
        tokio::task::yield_now().await;
        cx.confirm("Launch?").await?;
        Ok("launched")
    }

    /// Needs a client that knows tasks.
    #[tool(task(required, always))]
    async fn dry(&self) -> &'static str {
        tokio::task::yield_now().await;
        "dry"
    }

    #[tool(task(always))]
    async fn sink(&self) -> Result<String, String> {
        Err("it leaks".to_owned())
    }
}
