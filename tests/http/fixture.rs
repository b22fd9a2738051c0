//! The server that is asked.

use treenail::prelude::*;
use treenail::{HttpService, Limits, ServerBuilder, http_service};

pub(crate) struct Desk;

#[mcp_tool]
impl Desk {
    /// Adds two integers.
    #[tool]
    fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }

    /// Tells how far it is, then is done.
    #[tool]
    async fn count(&self, cx: &Context, to: u32) -> String {
        for step in 1..=to {
            cx.progress(step).await;
        }
        "counted".to_owned()
    }

    /// Asks before it answers.
    #[tool]
    async fn ask(&self, cx: &Context) -> Result<String, AskError> {
        let sure = cx.confirm("Sure?").await?;
        Ok(format!("{sure:?}"))
    }

    /// Never ends.
    #[tool]
    async fn wait(&self) {
        std::future::pending::<()>().await;
    }

    /// A note.
    #[resource("notes://{id}", subscribe)]
    async fn note(&self, id: u32) -> String {
        format!("note {id}")
    }

    /// A greeting.
    #[prompt]
    fn greet(name: String) -> String {
        format!("Greet {name}.")
    }
}

pub(crate) fn builder() -> ServerBuilder {
    Server::builder("desk", "1.0.0").mount(Desk)
}

pub(crate) fn service() -> HttpService {
    http_service(builder().build().unwrap())
}

pub(crate) fn service_within(limits: Limits) -> HttpService {
    http_service(builder().limits(limits).build().unwrap())
}
