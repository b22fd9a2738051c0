//! The server that most tests use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use treenail::prelude::*;
use treenail::schema::{Revision, Tool};

/// What the tests see of the inside of the server.
#[derive(Clone, Default)]
pub(crate) struct Inside {
    /// Told when a call that never ends has begun, and when it has been dropped.
    pub(crate) begun: Arc<Notify>,
    pub(crate) dropped: Arc<Notify>,
    pub(crate) calls: Arc<AtomicUsize>,
}

/// Everything that a server can have.
pub(crate) struct Everything(pub(crate) Inside);

#[mcp_form]
struct Guest {
    name: String,
    #[field(default = 2)]
    nights: u8,
}

struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[mcp_tool]
impl Everything {
    /// Adds two integers.
    #[tool(read_only)]
    fn add(&self, a: i64, b: i64) -> i64 {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        a + b
    }

    /// Says the same.
    #[tool]
    fn echo(text: String) -> String {
        text
    }

    #[tool]
    fn fail() -> Result<String, String> {
        Err("the sea is rough".to_owned())
    }

    /// Never ends.
    #[tool]
    async fn wait(&self) -> String {
        let _dropped = Dropped(Arc::clone(&self.0.dropped));
        self.0.begun.notify_one();
        std::future::pending().await
    }

    /// Tells of its steps.
    #[tool]
    async fn steps(&self, cx: &Context, count: u32) -> u32 {
        for step in 1..=count {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cx.progress(f64::from(step)).total(f64::from(count)).await;
        }
        count
    }

    /// Asks who is coming.
    #[tool]
    async fn book(&self, cx: &Context) -> Result<String, AskError> {
        let guest = cx.elicit::<Guest>("Who is coming?").await?;
        Ok(format!("{} stays {} nights", guest.name, guest.nights))
    }

    /// Asks more than once.
    #[tool]
    async fn insist(&self, cx: &Context, times: u32) -> Result<u32, AskError> {
        for number in 0..times {
            cx.confirm(format!("Number {number}?")).await?;
        }
        Ok(times)
    }

    #[resource("note://today", mime_type = "text/plain")]
    fn today(&self) -> String {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        "rain".to_owned()
    }

    #[resource("note://{city}/{day}")]
    fn note(city: String, day: u8) -> String {
        format!("{city} on day {day}")
    }

    /// Greets.
    #[prompt]
    fn greeting(#[arg(complete = Self::names)] name: String) -> String {
        format!("Hello {name}")
    }
}

impl Everything {
    fn names(&self, typed: &str) -> Vec<String> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        ["Anna", "Anton", "Berta"]
            .into_iter()
            .filter(|name| name.starts_with(typed))
            .map(str::to_owned)
            .collect()
    }
}

pub(crate) fn server() -> (Server, Inside) {
    let inside = Inside::default();
    let server = Server::builder("everything", "1")
        .mount(Everything(inside.clone()))
        .build()
        .unwrap();
    (server, inside)
}

pub(crate) async fn session(server: &Server, revision: Revision) -> McpClientSession {
    McpClientSession::builder()
        .server(server)
        .protocol_version(revision)
        .build()
        .await
        .unwrap()
}

pub(crate) fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| &*tool.name).collect()
}
