//! Server whose tools run as tasks, for `tasks.mjs`. `jobs STORE` serves standard input and output, and stores tasks in the
//! file `STORE`; `jobs --http 127.0.0.1:8080 STORE` serves HTTP.

use std::time::Duration;
use std::{env, future};

use tokio::sync::watch;
use tokio::task::yield_now;
use treenail::prelude::*;
use treenail::tasks::{SqliteStore, TaskLimits, Tasks};

#[derive(Default)]
struct Jobs {
    released: watch::Sender<bool>,
}

#[mcp_tool]
impl Jobs {
    /// Greets, and is ready at once.
    #[tool(read_only, task)]
    async fn greet(name: String) -> String {
        format!("Hello, {name}!")
    }

    /// Adds two numbers.
    #[tool(read_only, task(always))]
    async fn add(a: i64, b: i64) -> i64 {
        yield_now().await; // a call that is ready at once becomes no task
        a + b
    }

    /// Fails.
    #[tool(read_only, task(always))]
    async fn fail() -> Result<String, ToolError> {
        yield_now().await;
        Err(ToolError::new("out of paper"))
    }

    /// Asks for the roots of a client that has declared none.
    #[tool(read_only, task(always))]
    #[allow(
        deprecated,
        reason = "roots are deprecated, but their absence is an error"
    )]
    async fn refuse(cx: &Context) -> Result<usize, AskError> {
        yield_now().await;
        Ok(cx.roots().await?.len())
    }

    /// Asks for approval half-way.
    #[tool(task(always, resume))]
    async fn order(cx: &Context, item: String) -> Result<String, AskError> {
        let number = cx.once("reserve", async { Ok::<_, AskError>(7) }).await?;
        cx.confirm(format!("Order {item}?")).await?;
        Ok(format!("{item} is ordered under {number}"))
    }

    /// Never ends.
    #[tool(read_only, task(always))]
    async fn wait() {
        future::pending::<()>().await;
    }

    /// Ends when `release` is called.
    #[tool(read_only, task(always))]
    async fn hold(&self) -> Result<&'static str, watch::error::RecvError> {
        self.released
            .subscribe()
            .wait_for(|released| *released)
            .await?;
        Ok("released")
    }

    /// Ends all calls of `hold`, present and future.
    #[tool(idempotent)]
    fn release(&self) {
        self.released.send_replace(true);
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::print_stderr,
    reason = "the test needs the address of the server"
)]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args().skip(1);
    let mut store = arguments.next().unwrap_or_default();
    let mut address = None;
    if store == "--http" {
        address = arguments.next();
        store = arguments.next().unwrap_or_default();
    }
    // Over stdio, each client starts a server of its own, which takes over the tasks of the one before.
    let limits = TaskLimits::default()
        .lease(Duration::from_secs(1))
        .sweep_interval(Duration::from_millis(200))
        .poll_interval(Duration::from_millis(200));
    let tasks = Tasks::new().store(SqliteStore::open(store)?).limits(limits);
    let server = treenail::server!()
        .mount(Jobs::default())
        .extension(tasks)
        .build()?;
    let Some(address) = address else {
        return server.serve_stdio().await;
    };
    let http = server.bind_http(address).await?;
    eprintln!("http://{}/mcp", http.local_addr());
    http.serve().await
}
