//! Replicas in one process that exchange events over a bus, and failures of the bus.

mod bus_lifetime;
mod notifications;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{broadcast, watch};
use tokio::time::Instant;
use treenail::ServerBuilder;
use treenail::events::{BusFuture, EventBus, EventLink};
use treenail::http::{HttpService, http_service};

use crate::fixture::builder;

/// Engine that can be disconnected.
#[derive(Clone, Debug)]
struct Engine {
    messages: broadcast::Sender<Vec<u8>>,
    works: watch::Sender<bool>,
    /// Times of connection attempts.
    attempts: Arc<Mutex<Vec<Instant>>>,
    published: Arc<AtomicUsize>,
}

impl Engine {
    fn new() -> Self {
        Self {
            messages: broadcast::channel(4).0,
            works: watch::Sender::new(true),
            attempts: Arc::default(),
            published: Arc::default(),
        }
    }

    /// Moves messages until the engine is disconnected.
    async fn move_messages(
        &self,
        link: EventLink,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut works = self.works.subscribe();
        self.attempts.lock().unwrap().push(Instant::now());
        if !*works.borrow() {
            return Err("there is no engine".into());
        }
        let mut others = self.messages.subscribe();
        link.connected();
        loop {
            tokio::select! {
                biased;
                _ = works.wait_for(|works| !works) => return Err("the engine is gone".into()),
                message = others.recv() => link.receive(&message?),
                message = link.next() => {
                    self.published.fetch_add(1, Ordering::SeqCst);
                    self.messages.send(message)?;
                }
            }
        }
    }
}

impl EventBus for Engine {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        Box::pin(self.move_messages(link))
    }
}

fn replica(bus: impl EventBus) -> ServerBuilder {
    builder().dynamic().event_bus(bus)
}

fn service(builder: ServerBuilder) -> HttpService {
    http_service(builder.build().unwrap())
}
