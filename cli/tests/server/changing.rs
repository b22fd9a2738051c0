//! Server that closes while its event bus publishes a change.

use tokio::task::yield_now;
use treenail::Server;
use treenail::events::{BusFuture, EventBus, EventLink};

/// Bus that publishes to standard error, with some delay.
#[derive(Debug)]
struct SlowBus;

impl EventBus for SlowBus {
    #[expect(clippy::print_stderr, reason = "the tests read it")]
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        Box::pin(async move {
            loop {
                let message = String::from_utf8(link.next().await)?;
                for _ in 0..100 {
                    yield_now().await;
                }
                eprintln!("published {message}");
            }
        })
    }
}

pub(crate) async fn serve() -> treenail::Result<()> {
    let server = Server::builder("changing", "1").event_bus(SlowBus);
    let server = server.build()?;
    server.close();
    server.resource_updated("note://today");
    server.serve_stdio().await
}
