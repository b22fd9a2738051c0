//! Extensions of a call that runs again.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;
use treenail::context::Principal;
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, Tasks, runs_again};

use crate::peer::Peer;
use crate::works::{crash, limits, shared};

#[derive(Clone, Copy, Debug)]
struct Tenant(u32);

struct Files {
    gate: Arc<Semaphore>,
}

#[mcp_tool]
impl Files {
    #[tool(idempotent, task(always))]
    async fn purge(&self, cx: &Context) -> Result<String, ToolError> {
        let tenant = || cx.extension::<Tenant>().map(|tenant| tenant.0);
        let stored: Option<u32> = cx
            .once("tenant", async { Ok::<_, ToolError>(tenant()) })
            .await?;
        self.gate.acquire().await?.forget();
        let principal = cx.principal().map(ToString::to_string);
        let (again, now) = (runs_again(cx), tenant());
        Ok(format!("{stored:?} {now:?} {principal:?} {again}"))
    }
}

fn server(store: &Arc<MemoryStore>, gate: &Arc<Semaphore>) -> Server {
    let tasks = Tasks::new().store(store.clone()).limits(limits());
    let gate = Arc::clone(gate);
    let builder = Server::builder("files", "1.0.0").extension(tasks);
    builder.mount(Files { gate }).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_repeated_run_knows_that_its_extensions_are_gone() {
    let (store, gate) = (shared(), Arc::new(Semaphore::new(0)));
    let first = server(&store, &gate);
    let mut connection = first.connect();
    connection.extensions_mut().insert(Principal::new("alice"));
    connection.extensions_mut().insert(Tenant(7));
    let mut peer = Peer::modern_on(connection);
    let (done, interrupted) = (
        peer.task("purge", json!({})).await,
        peer.task("purge", json!({})).await,
    );
    gate.add_permits(1);
    let done = peer.end(&done).await;
    let text = &done["result"]["content"][0]["text"];
    assert_eq!(text, "Some(7) Some(7) Some(\"alice\") false");
    crash(first).await;
    gate.add_permits(1);
    let done = Peer::of(&server(&store, &gate), "alice")
        .end(&interrupted)
        .await;
    let text = &done["result"]["content"][0]["text"];
    assert_eq!(text, "Some(7) None Some(\"alice\") true");
}
