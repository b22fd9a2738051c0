//! The server under test.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::{Limits, ServerBuilder};

/// Signals start and end of the calls of `wait`.
#[derive(Clone, Default)]
pub(crate) struct Desk {
    pub(crate) begun: Arc<Notify>,
    pub(crate) ended: Arc<Notify>,
}

struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[mcp_tool]
impl Desk {
    /// Adds two integers.
    #[tool]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Reports progress, then returns.
    #[tool]
    async fn count(&self, cx: &Context, to: u32) -> String {
        for step in 1..=to {
            cx.progress(step).await;
        }
        "counted".to_owned()
    }

    /// Asks the client before it returns.
    #[tool]
    async fn ask(&self, cx: &Context) -> Result<String, AskError> {
        cx.confirm("Sure?").await?;
        Ok("sure".to_owned())
    }

    /// Takes a minute, and closes its stream first.
    #[tool]
    async fn nap(&self, cx: &Context, tell: bool) -> String {
        if tell {
            cx.progress(1).await;
            tokio::task::yield_now().await;
        }
        cx.close_sse_stream();
        tokio::time::sleep(Duration::from_secs(60)).await;
        "rested".to_owned()
    }

    /// Never returns.
    #[tool]
    async fn wait(&self) {
        let _end = OnDrop(Arc::clone(&self.ended));
        self.begun.notify_one();
        std::future::pending::<()>().await;
    }

    /// Reports progress without end.
    #[tool]
    async fn flood(&self, cx: &Context) {
        let _end = OnDrop(Arc::clone(&self.ended));
        self.begun.notify_one();
        for step in 0..u32::MAX {
            cx.progress(step).message("x".repeat(10_000)).await;
        }
    }

    /// A note.
    #[resource("notes://{id}", subscribable)]
    async fn note(&self, id: u32) -> String {
        format!("note {id}")
    }

    /// A greeting.
    #[prompt]
    fn greet(name: String) -> String {
        format!("Greet {name}.")
    }
}

pub(crate) fn builder_of(desk: &Desk) -> ServerBuilder {
    Server::builder("desk", "1.0.0")
        .mount(desk.clone())
        .tools(tools![locate, whoami])
}

pub(crate) fn builder() -> ServerBuilder {
    builder_of(&Desk::default())
}

pub(crate) fn service() -> HttpService {
    http_service(builder().build().unwrap())
}

pub(crate) fn service_within(limits: Limits) -> HttpService {
    http_service(builder().limits(limits).build().unwrap())
}

/// Place to search, with arguments repeated in headers.
#[mcp_type]
pub(crate) struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    #[schemars(extend("x-mcp-header" = "Level"))]
    level: Option<i64>,
    #[schemars(extend("x-mcp-header" = "Roofed"))]
    roofed: Option<bool>,
}

/// Returns the location of a thing.
#[mcp_tool]
fn locate(place: Place) -> String {
    format!("{} {:?} {:?}", place.region, place.level, place.roofed)
}

/// Returns the principal and the user agent.
#[mcp_tool]
fn whoami(cx: &Context) -> String {
    let parts = cx.extension::<http::request::Parts>();
    let agent = parts.and_then(|parts| parts.headers.get("user-agent")?.to_str().ok());
    format!("{:?} {agent:?}", cx.principal().map(ToString::to_string))
}
