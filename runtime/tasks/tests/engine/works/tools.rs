//! Tools of the server of the tests.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use treenail::RpcError;
use treenail::elicit::AskError;
use treenail::prelude::*;
use treenail::tasks::task_token;

use super::Works;

#[mcp_form]
struct Name {
    name: String,
}

#[mcp_tool]
impl Works {
    /// Never a task.
    #[tool]
    async fn greet(&self, name: String) -> String {
        format!("Hello, {name}!")
    }

    /// A task if it takes long.
    #[tool(task)]
    async fn slow(&self, seconds: f64) -> String {
        self.note("slow");
        sleep(Duration::from_secs_f64(seconds)).await;
        format!("slept {seconds} s")
    }

    /// Waits for the gate.
    #[tool(task(always))]
    async fn gated(&self) -> String {
        self.note("begin");
        self.pass().await;
        self.note("end");
        "through".to_owned()
    }

    /// The same, and safe to repeat.
    #[tool(idempotent, task(always))]
    async fn gated_again(&self) -> String {
        self.note("begin");
        self.pass().await;
        self.note("end");
        "through".to_owned()
    }

    #[tool(task(always))]
    async fn failing(&self) -> Result<String, ToolError> {
        sleep(Duration::from_secs(1)).await;
        Err(ToolError::new("no disk"))
    }

    #[tool(task(always))]
    async fn broken(&self, cx: &Context) -> Result<String, RpcError> {
        sleep(Duration::from_secs(1)).await;
        cx.require_client_extension("com.example/none")?;
        Ok(String::new())
    }

    #[tool(task(required))]
    async fn only_task(&self) -> String {
        sleep(Duration::from_secs(1)).await;
        "done".to_owned()
    }

    #[tool(task(always, keep = "10s", run_time = "5s"))]
    async fn short(&self, seconds: u64) -> String {
        sleep(Duration::from_secs(seconds)).await;
        "done".to_owned()
    }

    /// Asks after it has become a task.
    #[tool(task(always))]
    async fn confirm(&self, cx: &Context) -> Result<String, AskError> {
        sleep(Duration::from_secs(1)).await;
        let Name { name } = cx.elicit("Name?").await?;
        Ok(format!("Hello, {name}!"))
    }

    /// The same, and safe to repeat.
    #[tool(read_only, task(always))]
    async fn ask_safely(&self, cx: &Context) -> Result<String, AskError> {
        self.confirm(cx).await
    }

    /// Asks two questions at once.
    #[tool(task(always))]
    async fn two(&self, cx: &Context) -> Result<String, AskError> {
        sleep(Duration::from_secs(1)).await;
        let first = async { cx.elicit::<Name>("First?").key("first").await };
        let second = async { cx.elicit::<Name>("Second?").key("second").await };
        let (first, second) = tokio::try_join!(first, second)?;
        Ok(format!("{} {}", first.name, second.name))
    }

    /// Asks before it becomes a task, works once, and asks again.
    #[tool(task(resume, after = "500ms"))]
    async fn book(&self, cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("Name?").await?;
        let number: u64 = cx
            .once("reserve", async {
                self.note("reserve");
                Ok::<_, AskError>(7)
            })
            .await?;
        sleep(Duration::from_secs(1)).await;
        let paid: u64 = cx
            .once("pay", async {
                self.note("pay");
                Ok::<_, AskError>(9)
            })
            .await?;
        let room: Name = cx.elicit(format!("Room for {name}?")).await?;
        Ok(format!("{name} {number} {paid} {}", room.name))
    }

    /// Is interrupted while work runs that must not run twice.
    #[tool(task(always, resume))]
    async fn charge(&self, cx: &Context) -> Result<String, AskError> {
        self.charge_once(cx).await
    }

    /// The same, and safe to repeat.
    #[tool(idempotent, task(always))]
    async fn charge_again(&self, cx: &Context) -> Result<String, AskError> {
        self.charge_once(cx).await
    }

    #[tool(task(always))]
    async fn report(&self, cx: &Context) -> String {
        for done in 1..=3 {
            sleep(Duration::from_secs(2)).await;
            cx.progress(done)
                .total(3)
                .message(format!("page {done}"))
                .await;
        }
        sleep(Duration::from_secs(5)).await;
        "done".to_owned()
    }

    /// Reports the same all the time.
    #[tool(task(always))]
    async fn chatter(&self, cx: &Context) -> String {
        self.note("begin");
        for done in 1..=40 {
            sleep(Duration::from_millis(500)).await;
            cx.progress(done).message("at work").await;
        }
        "done".to_owned()
    }

    /// Needs the values of its first round again after it has become a task.
    #[tool(task(resume, after = "500ms"))]
    async fn book_late(&self, cx: &Context) -> Result<String, AskError> {
        let is_late = !self.notes().is_empty();
        let number = || {
            cx.once("reserve", async {
                self.note("reserve");
                Ok::<u64, AskError>(7)
            })
        };
        number().await?;
        let first = async { cx.elicit::<Name>("First?").key("first").await };
        let second = async {
            if is_late {
                sleep(Duration::from_secs(1)).await;
                let number = number().await?;
                self.note(format!("again {number}"));
            }
            cx.elicit::<Name>("Second?").key("second").await
        };
        let (first, second) = tokio::try_join!(first, second)?;
        Ok(format!("{} {}", first.name, second.name))
    }

    /// Works once, and asks.
    #[tool(task(always, resume))]
    async fn reserve(&self, cx: &Context) -> Result<String, AskError> {
        let number: u64 = cx
            .once("reserve", async {
                self.note("reserve");
                Ok::<_, AskError>(7)
            })
            .await?;
        let Name { name } = cx.elicit("Name?").key("name").await?;
        Ok(format!("{name} {number}"))
    }

    /// Stops polling its work while a change of the record is stored.
    #[tool(task(always))]
    async fn unpolled(&self, cx: &Context) -> Result<String, AskError> {
        self.note("begin");
        let mut work = pin!(cx.once("pay", async {
            self.note("pay");
            Ok::<u64, AskError>(9)
        }));
        tokio::select! {
            paid = &mut work => return Ok(format!("paid {} at once", paid?)),
            () = sleep(Duration::from_millis(500)) => {}
        }
        sleep(Duration::from_secs(30)).await;
        Ok(format!("paid {}", work.await?))
    }

    /// Withdraws its question while it is stored.
    #[tool(task(always))]
    async fn impatient(&self, cx: &Context) -> Result<String, AskError> {
        self.note("begin");
        tokio::select! {
            name = async { cx.elicit::<Name>("Name?").await } => return Ok(name?.name),
            () = sleep(Duration::from_millis(500)) => {}
        }
        self.pass().await;
        Ok("nobody".to_owned())
    }

    /// Ends before its token has left the process.
    #[tool(task(external))]
    async fn outside_later(&self, cx: &Context) -> Result<String, RpcError> {
        let token = task_token(cx)?;
        self.note(token.as_str());
        self.pass().await;
        Ok("queued".to_owned())
    }

    /// Leaves the task to its token.
    #[tool(task(external))]
    async fn outside(&self, cx: &Context) -> Result<String, RpcError> {
        let token = task_token(cx)?;
        self.note(token.as_str());
        Ok("queued".to_owned())
    }

    /// Asks a question, and returns without the answer. The token completes the task.
    #[tool(task(external))]
    async fn outside_impatient(&self, cx: &Context) -> Result<String, RpcError> {
        let token = task_token(cx)?;
        let _ = timeout(Duration::from_secs(1), cx.confirm("Go on?")).await;
        self.note(token.as_str());
        Ok("queued".to_owned())
    }

    #[tool(task(external))]
    async fn outside_gated(&self, cx: &Context) -> Result<String, RpcError> {
        let _ = timeout(Duration::from_millis(8_500), cx.confirm("Go on?")).await;
        self.note("abandoned");
        self.pass().await;
        Ok("queued".to_owned())
    }

    /// Becomes a task half a second before its end.
    #[tool(task(resume, after = "500ms"))]
    async fn late(&self) -> String {
        self.note("late");
        sleep(Duration::from_secs(1)).await;
        "done".to_owned()
    }

    /// Asks a long question.
    #[tool(task(always))]
    async fn ask_long(&self, cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("x".repeat(900_000)).await?;
        Ok(name)
    }

    #[tool(task(always))]
    async fn large(&self, bytes: usize) -> String {
        sleep(Duration::from_secs(1)).await;
        "x".repeat(bytes)
    }
}

impl Works {
    async fn charge_once(&self, cx: &Context) -> Result<String, AskError> {
        let paid: u64 = cx
            .once("pay", async {
                self.note("pay");
                self.pass().await;
                Ok::<_, AskError>(9)
            })
            .await?;
        Ok(format!("paid {paid}"))
    }
}
