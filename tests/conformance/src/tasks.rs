//! Tools that run as tasks.

use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::sleep;
use treenail::prelude::*;

/// Duration of short work, above the delay after which a call becomes a task.
const WORK: Duration = Duration::from_secs(1);

pub(crate) struct Tasks;

#[mcp_form]
struct Confirmation {
    confirm: bool,
}

#[mcp_form]
struct Name {
    name: String,
}

#[mcp_tool]
impl Tasks {
    /// Greets, and never becomes a task.
    #[tool(read_only)]
    fn greet(name: String) -> String {
        format!("Hello, {name}!")
    }

    /// Computes for some seconds.
    #[tool(read_only, task)]
    async fn slow_compute(#[arg(range = 0..=3600)] seconds: u64, label: String) -> String {
        sleep(Duration::from_secs(seconds)).await;
        format!("{label}: computed for {seconds} s")
    }

    /// Fails after a second.
    #[tool(read_only, task(required))]
    async fn failing_job() -> Result<String, ToolError> {
        sleep(WORK).await;
        Err(ToolError::new("the job failed, as it always does"))
    }

    /// Asks for the roots of a client that has not declared any, which is an error of the protocol.
    #[tool(read_only, task(always))]
    #[allow(
        deprecated,
        reason = "roots are deprecated, but their absence is an error"
    )]
    async fn protocol_error_job(cx: &Context) -> Result<usize, AskError> {
        yield_now().await; // a call that is ready at once becomes no task
        Ok(cx.roots().await?.len())
    }

    /// Asks for confirmation while it runs.
    #[tool(task(always))]
    async fn confirm_delete(cx: &Context, filename: String) -> Result<String, AskError> {
        let Confirmation { confirm } = cx.elicit(format!("Delete {filename}?")).await?;
        let outcome = if confirm { "deleted" } else { "still there" };
        Ok(format!("{filename} is {outcome}"))
    }

    /// Asks two questions at once.
    #[tool(task(always))]
    async fn multi_input(cx: &Context) -> Result<String, AskError> {
        let (Name { name }, Confirmation { confirm }) = tokio::try_join!(
            cx.elicit("What is your name?").key("name").into_future(),
            cx.elicit("Do you agree?").key("agreement").into_future(),
        )?;
        Ok(format!("{name} agrees: {confirm}"))
    }

    /// Asks for a name before it becomes a task.
    #[tool(read_only, task(required))]
    async fn test_tool_with_task(cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("What is your name?").key("user_name").await?;
        sleep(WORK).await;
        Ok(format!("Hello, {name}!"))
    }
}
