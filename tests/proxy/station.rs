//! The server behind the proxies of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, Semaphore};
use treenail::client::McpClientBuilder;
use treenail::prelude::*;
use treenail::proxy::{Mounted, Proxy, ProxyLimits, Remote};
use treenail::schema::{LoggingLevel, Revision};

pub(crate) const LEGACY: Revision = Revision::V2025_11_25;
pub(crate) const MODERN: Revision = Revision::V2026_07_28;

/// Combinations of the eras of a caller and of a server.
pub(crate) const ERAS: [(Revision, Revision); 4] = [
    (LEGACY, LEGACY),
    (LEGACY, MODERN),
    (MODERN, LEGACY),
    (MODERN, MODERN),
];

/// State of the station that tests see.
#[derive(Debug)]
pub(crate) struct Counters {
    /// Number of runs of `work`.
    pub(crate) runs: AtomicUsize,
    /// Notified when `work` has started.
    pub(crate) started: Notify,
    /// A permit lets one call of `work` finish.
    pub(crate) finish: Semaphore,
    /// Notified when a call of `work` was dropped before its end.
    pub(crate) dropped: Notify,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            runs: AtomicUsize::new(0),
            started: Notify::new(),
            finish: Semaphore::new(0),
            dropped: Notify::new(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Station(pub(crate) Arc<Counters>);

#[mcp_form]
struct Stay {
    nights: u8,
}

struct OnDrop<'a>(Option<&'a Notify>);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        if let Some(dropped) = self.0.take() {
            dropped.notify_one();
        }
    }
}

/// A weather station.
#[mcp_tool]
impl Station {
    /// Adds.
    #[tool(read_only)]
    async fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }

    /// Fails.
    #[tool]
    async fn fail(&self) -> Result<String, ToolError> {
        Err(ToolError::new("out of order"))
    }

    /// Works until the test lets it finish.
    #[tool]
    async fn work(&self, cx: &Context) -> String {
        self.0.runs.fetch_add(1, Ordering::SeqCst);
        let mut guard = OnDrop(Some(&self.0.dropped));
        self.0.started.notify_one();
        cx.progress(1).total(2).message("half").await;
        #[expect(deprecated, reason = "proxies pass it on")]
        cx.log(LoggingLevel::Warning, "hot").await;
        self.0.finish.acquire().await.expect("it is open").forget();
        guard.0 = None;
        "done".to_owned()
    }

    /// Books.
    #[tool]
    async fn book(&self, cx: &Context) -> Result<String, AskError> {
        self.0.runs.fetch_add(1, Ordering::SeqCst);
        let stay: Stay = cx.elicit("How long?").await?;
        cx.confirm(format!("{} nights?", stay.nights)).await?;
        Ok(format!("booked {} nights", stay.nights))
    }

    /// Greets the caller.
    #[tool]
    async fn greet(&self, cx: &Context) -> String {
        let meta = cx.meta();
        let trace = meta.get("traceparent").and_then(Value::as_str);
        trace.unwrap_or("nobody").to_owned()
    }

    /// Plans a trip.
    #[prompt]
    fn trip(#[arg(complete = cities)] city: String) -> String {
        format!("Plan a trip to {city}.")
    }

    /// The newest report.
    #[resource("station://report", subscribable)]
    async fn report(&self) -> String {
        "sunny".to_owned()
    }

    /// One report.
    #[resource("station://reports/{id}", subscribable)]
    async fn old_report(&self, #[arg(complete = ids)] id: String) -> String {
        format!("report {id}")
    }
}

fn cities(typed: &str) -> Vec<String> {
    let all = ["Oslo", "Osaka", "Rome"];
    all.into_iter()
        .filter(|city| city.starts_with(typed))
        .map(str::to_owned)
        .collect()
}

fn ids(_: &str) -> Vec<String> {
    vec!["1".to_owned(), "2".to_owned()]
}

pub(crate) fn station() -> (Server, Arc<Counters>) {
    let station = Station::default();
    let counters = Arc::clone(&station.0);
    let server = Server::builder("station", "1.0.0")
        .dynamic()
        .mount(station)
        .build();
    (server.expect("it can be built"), counters)
}

/// Builder of a client of `server`.
pub(crate) fn client_of(server: &Server, revision: Revision) -> McpClientBuilder {
    McpClient::builder()
        .server(server)
        .protocol_version(revision)
}

/// A gateway without features of its own.
pub(crate) fn gateway() -> (Server, Proxy) {
    let server = Server::builder("gateway", "1.0.0")
        .dynamic()
        .build()
        .expect("it can be built");
    let proxy = Proxy::new(&server);
    (server, proxy)
}

/// Describes `server` as one to mount.
pub(crate) fn remote(name: &str, server: &Server, revision: Revision) -> Remote {
    let server = server.clone();
    Remote::new(name, move || client_of(&server, revision))
}

/// A gateway with a connected `server` in the namespace `st`.
pub(crate) async fn proxied(server: &Server, revision: Revision) -> (Server, Mounted) {
    let (gateway, proxy) = gateway();
    let mounted = proxy
        .mount(remote("st", server, revision))
        .expect("it can be mounted");
    mounted.connected().await;
    (gateway, mounted)
}

/// Limits with short delays between attempts to connect.
pub(crate) fn impatient() -> ProxyLimits {
    let delay = std::time::Duration::from_millis(1);
    ProxyLimits::default()
        .initial_backoff(delay)
        .max_backoff(delay)
        .refresh_interval(delay)
}
