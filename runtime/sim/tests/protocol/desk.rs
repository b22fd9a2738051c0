//! The server under test, and the work of its clients.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use treenail::client::McpClientBuilder;
use treenail::elicit::{AskError, RequestStateKey};
use treenail::limits::HttpLimits;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};
use treenail::sim::{Client, Replica};
use treenail::{Limits, ServerBuilder};

/// Calls of one connection, and of one replica, that may run at once.
pub(crate) const CALLS: usize = 4;
pub(crate) const SERVER_CALLS: usize = 8;

/// Memory that a replica may hold at any time, in bytes. Most hold less than a third of it.
pub(crate) const BUSY_BYTES: usize = 1_000_000;
/// Memory that a desk may hold without clients, in bytes. One that has had no clients yet holds 53,756.
pub(crate) const IDLE_BYTES: usize = 56_000;

/// Runs `action`, and returns by how many bytes this changed the allocated memory.
pub(crate) fn measure(action: &mut dyn FnMut()) -> i64 {
    allocation_counter::measure(action).bytes_current
}

/// Effects of all replicas of a run.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    /// Calls that run.
    pub(crate) running: Arc<AtomicI64>,
    counts: Arc<Mutex<BTreeMap<String, u64>>>,
    pub(crate) version: Arc<AtomicI64>,
}

impl Ledger {
    /// Counts an effect, and returns its number.
    pub(crate) fn count(&self, key: String) -> u64 {
        let mut counts = self.counts.lock().unwrap();
        let count = counts.entry(key).or_default();
        *count += 1;
        *count
    }

    pub(crate) fn get(&self, key: &str) -> u64 {
        self.counts.lock().unwrap().get(key).copied().unwrap_or(0)
    }

    pub(crate) fn enter(&self) -> Running {
        self.running.fetch_add(1, Ordering::SeqCst);
        Running(Arc::clone(&self.running))
    }
}

/// A call that runs, until it is dropped.
pub(crate) struct Running(Arc<AtomicI64>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Desk {
    pub(crate) ledger: Ledger,
}

#[mcp_tool]
impl Desk {
    /// Adds two integers at once.
    #[tool(read_only)]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Reports progress in steps.
    #[tool(read_only)]
    async fn steps(&self, cx: &Context, steps: u32, pause: u64, size: usize) -> String {
        let _running = self.ledger.enter();
        for step in 1..=steps {
            sleep(Duration::from_millis(pause)).await;
            cx.progress(step).message("x".repeat(size)).await;
        }
        format!("{steps} steps {}", "y".repeat(size))
    }

    /// At most two of these run at once, and not for long.
    #[tool(read_only, max_concurrency = 2, timeout = Duration::from_millis(250))]
    async fn narrow(&self, pause: u64) -> u64 {
        let _running = self.ledger.enter();
        sleep(Duration::from_millis(pause)).await;
        pause
    }

    /// Takes longer than its timeout.
    #[tool(read_only, timeout = Duration::from_millis(700))]
    async fn endless(&self, cx: &Context) -> u64 {
        let _running = self.ledger.enter();
        for step in 1..=u32::MAX {
            sleep(Duration::from_millis(100)).await;
            cx.progress(step).await;
        }
        0
    }

    /// Asks twice, and reserves once in between.
    #[tool]
    async fn book(&self, cx: &Context, key: String) -> Result<String, AskError> {
        let _running = self.ledger.enter();
        cx.confirm(format!("Reserve {key}?")).await?;
        let ledger = &self.ledger;
        let reserve = async {
            sleep(Duration::from_millis(30)).await;
            Ok::<_, AskError>(ledger.count(format!("reserve {key}")))
        };
        let number = cx.once("reserve", reserve).await?;
        cx.confirm(format!("Book {key} under {number}?")).await?;
        let reserved = self.ledger.get(&format!("reserve {key}"));
        Ok(format!("{key} {number} of {reserved}"))
    }

    /// Fails in one of several ways.
    #[tool]
    async fn fail(pause: u64) -> Result<String, ToolError> {
        sleep(Duration::from_millis(pause)).await;
        assert!(pause % 3 != 0, "a panic of the tool");
        Err(ToolError::new("it failed"))
    }

    /// Changes the board.
    #[tool]
    fn touch(&self, cx: &Context) -> i64 {
        let version = self.ledger.version.fetch_add(1, Ordering::SeqCst) + 1;
        cx.server().resource_updated("desk://board");
        version
    }

    /// The board.
    #[resource("desk://board", subscribable)]
    fn board(&self) -> i64 {
        self.ledger.version.load(Ordering::SeqCst)
    }
}

pub(crate) fn limits() -> Limits {
    Limits::default()
        .calls_in_flight(CALLS)
        .server_calls_in_flight(SERVER_CALLS)
        .elicitation_timeout(Duration::from_secs(10))
        .queued_messages(4)
        .queued_output_bytes(4 << 10)
        .backlog_bytes(8 << 10)
        .http(
            HttpLimits::default()
                .sessions(32)
                .listen_streams(8)
                .session_idle_timeout(Duration::from_secs(40)),
        )
}

impl Desk {
    pub(crate) fn builder(&self, replica: &Replica) -> ServerBuilder {
        Server::builder("desk", "1.0.0")
            .mount(self.clone())
            .limits(limits())
            .request_state_key(RequestStateKey::new([7; 32]))
            .event_bus(replica.bus())
    }
}

/// Returns a builder with handlers, in a revision that depends on the client.
pub(crate) fn builder(client: &Client, revisions: &[Revision]) -> McpClientBuilder {
    let revision = revisions[client.index() % revisions.len()];
    let waiting = client.clone();
    client
        .builder()
        .protocol_version(revision)
        .request_timeout(Duration::from_secs(60))
        .on_elicit(move |_| {
            let client = waiting.clone();
            async move {
                client.pause(Duration::from_millis(300)).await;
                Ok(ElicitResult::new(match client.random(8) {
                    0 => ElicitAction::Decline,
                    _ => ElicitAction::Accept,
                }))
            }
        })
}

/// Makes a random call, possibly with an early end, and checks a successful outcome.
pub(crate) async fn call(client: &Client, session: &McpClient, number: u64) {
    let patience = match client.random(3) {
        0 => Duration::from_millis(client.random(400)),
        _ => Duration::from_secs(100),
    };
    if timeout(patience, call_once(client, session, number))
        .await
        .is_err()
    {
        client.log("has stopped waiting");
    }
}

async fn call_once(client: &Client, session: &McpClient, number: u64) {
    let pause = client.random(200);
    match client.random(7) {
        0 | 1 => {
            let a = i64::try_from(client.random(1_000)).unwrap();
            let sum = session
                .call_tool_as::<i64>("add", json!({"a": a, "b": 1}))
                .await;
            assert!(sum.is_err() || sum.is_ok_and(|sum| sum == a + 1));
        }
        2 | 3 => call_steps(client, session, pause).await,
        4 => {
            let narrow = session.call_tool("narrow", json!({"pause": pause})).await;
            if let Ok(result) = narrow.filter_ok() {
                assert!(serde_text(&result).contains(&pause.to_string()));
            }
        }
        5 => {
            let key = format!("{}-{number}", client.index());
            let booked = session.call_tool("book", json!({"key": key})).await;
            if let Ok(result) = booked.filter_ok() {
                let text = serde_text(&result);
                assert!(text.contains(&key), "{text}");
            }
        }
        _ => {
            let failing = if pause % 2 == 0 { "fail" } else { "endless" };
            let arguments = if failing == "fail" {
                json!({"pause": pause})
            } else {
                json!({})
            };
            if let Ok(result) = session.call_tool(failing, arguments).await {
                assert_eq!(result.is_error, Some(true));
            }
        }
    }
}

/// Calls a tool that reports progress, and checks that all of it arrives in order.
async fn call_steps(client: &Client, session: &McpClient, pause: u64) {
    let (steps, size) = (client.random(8), client.random(600));
    let progress: Arc<Mutex<Vec<f64>>> = Arc::default();
    let seen = Arc::clone(&progress);
    let arguments = json!({"steps": steps, "pause": pause, "size": size});
    let call = session.call_tool("steps", arguments);
    let call = call.on_progress(move |progress| {
        seen.lock().unwrap().push(progress.progress.as_f64());
    });
    let Ok(result) = call.await else {
        return;
    };
    let text = serde_text(&result);
    assert!(text.contains(&format!("{steps} steps")), "{text}");
    let all: Vec<f64> = (1..=steps)
        .map(|step| f64::from(u32::try_from(step).unwrap()))
        .collect();
    assert_eq!(*progress.lock().unwrap(), all, "progress of {steps} steps");
}

trait FilterOk {
    fn filter_ok(self) -> Self;
}

impl FilterOk for Result<treenail::schema::CallToolResult, ClientError> {
    /// Turns a result with `isError` into an error.
    fn filter_ok(self) -> Self {
        match self {
            Ok(result) if result.is_error == Some(true) => {
                Err(ClientError::Closed("failed".into()))
            }
            other => other,
        }
    }
}

pub(crate) fn serde_text(result: &treenail::schema::CallToolResult) -> String {
    json!(result).to_string()
}
