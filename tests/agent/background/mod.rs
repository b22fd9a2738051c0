//! Calls that run as tasks of their server while the model goes on.

mod endings;
mod outcomes;
mod pauses;
mod questions;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use treenail::agent::{Run, RunEvent, RunReport, ScriptedModel, ScriptedReply, ToolLoop};
use treenail::prelude::*;
use treenail::schema::{Revision, Role, SamplingMessageContentBlock as Block};

/// Tools that run as tasks.
#[derive(Clone, Default)]
struct Yard {
    released: Arc<Notify>,
    dropped: Arc<Notify>,
}

/// Guard that notifies when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[mcp_tool]
impl Yard {
    /// Waits until `release` is called.
    #[tool(read_only, task(always))]
    async fn report(&self, year: u32) -> String {
        let _dropped = Dropped(Arc::clone(&self.dropped));
        self.released.notified().await;
        format!("report of {year}")
    }

    #[tool(destructive)]
    fn dig() -> &'static str {
        "deep"
    }

    /// Lets `report` end, after a while.
    #[tool(read_only)]
    fn release(&self) {
        let released = Arc::clone(&self.released);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            released.notify_one();
        });
    }

    /// Ends after a second.
    #[tool(read_only, task(always))]
    async fn quick() -> &'static str {
        tokio::time::sleep(Duration::from_secs(1)).await;
        "quick report"
    }

    /// Asks the user.
    #[tool(read_only, task(always))]
    async fn confirmed(cx: &Context) -> Result<&'static str, AskError> {
        cx.confirm("Report?").await?;
        Ok("confirmed report")
    }

    #[tool(read_only, task(always))]
    async fn sink() -> Result<String, String> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Err("it leaks".to_owned())
    }
}

/// Returns a client with tasks.
async fn client(yard: &Yard) -> McpClient {
    let server = treenail::server!().mount(yard.clone()).build().unwrap();
    let builder = McpClient::builder().server(&server).tasks();
    builder
        .protocol_version(Revision::V2026_07_28)
        .build()
        .await
        .unwrap()
}

/// Returns a loop whose model calls `report`, and then replies as given.
async fn agent(yard: &Yard, replies: impl IntoIterator<Item = ScriptedReply>) -> ToolLoop {
    let call = ScriptedReply::call("report", json!({"year": 2026}));
    let model = ScriptedModel::new([call].into_iter().chain(replies));
    ToolLoop::new(model)
        .source("yard", client(yard).await)
        .background_tasks(true)
}

/// Reads events until a call has finished: the task has started.
async fn until_started(run: &mut Run) {
    while !matches!(run.next().await, Some(RunEvent::CallFinished { .. })) {}
}

/// Waits for the cancellation of `report`.
async fn cancelled(yard: &Yard) {
    let cancelled = yard.dropped.notified();
    let waiting = tokio::time::timeout(Duration::from_secs(60), cancelled);
    waiting.await.expect("the task is cancelled");
}

/// Returns the texts of the messages of the user, without results.
fn user_texts(report: &RunReport) -> Vec<String> {
    let of_user = report
        .transcript
        .iter()
        .filter(|message| message.role == Role::User);
    let texts = of_user.map(|message| {
        let blocks = message.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.clone()),
            _ => None,
        });
        blocks.collect::<Vec<_>>().join("\n")
    });
    texts.filter(|text| !text.is_empty()).collect()
}
