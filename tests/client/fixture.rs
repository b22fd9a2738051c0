//! Server for most tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use treenail::prelude::*;
use treenail::schema::{Revision, Tool};

/// Observations inside of the server.
#[derive(Clone, Default)]
pub(crate) struct Observer {
    /// Notified when a never-ending call starts; `dropped` when it is dropped.
    pub(crate) started: Arc<Notify>,
    pub(crate) dropped: Arc<Notify>,
    pub(crate) calls: Arc<AtomicUsize>,
}

/// Server with all kinds of features.
pub(crate) struct FullServer(pub(crate) Observer);

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
impl FullServer {
    /// Adds two integers.
    #[tool(read_only)]
    fn add(&self, a: i64, b: i64) -> i64 {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        a + b
    }

    /// Returns its argument.
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
        self.0.started.notify_one();
        std::future::pending().await
    }

    /// Reports the progress of its steps.
    #[tool]
    async fn steps(&self, cx: &Context, count: u32) -> u32 {
        for step in 1..=count {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cx.progress(f64::from(step)).total(f64::from(count)).await;
        }
        count
    }

    /// Elicits a guest.
    #[tool]
    async fn book(&self, cx: &Context) -> Result<String, AskError> {
        let guest = cx.elicit::<Guest>("Who is coming?").await?;
        Ok(format!("{} stays {} nights", guest.name, guest.nights))
    }

    /// Elicits several times.
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

impl FullServer {
    fn names(&self, typed: &str) -> Vec<String> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        ["Anna", "Anton", "Berta"]
            .into_iter()
            .filter(|name| name.starts_with(typed))
            .map(str::to_owned)
            .collect()
    }
}

pub(crate) fn server() -> (Server, Observer) {
    let observer = Observer::default();
    let server = Server::builder("everything", "1")
        .mount(FullServer(observer.clone()))
        .build()
        .unwrap();
    (server, observer)
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
