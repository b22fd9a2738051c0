//! Runs a bus as long as its server exists.

use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::ask::{NO_RANDOM_BYTES, random, random_id};
use crate::bus::link::EventLink;
use crate::bus::message::Sender;
use crate::bus::{EventBus, EventQueue};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::panic::catch;
use crate::server::subscriptions::Hub;

/// The pause after the first failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// A bus that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Supervised {
    task: AbortHandle,
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Supervised {
    /// Begins to run `bus` for the server with that name; what `queue` has is told by it, and what it brings `hub`.
    pub(crate) fn start(
        bus: Arc<dyn EventBus>,
        server: &str,
        (hub, queue): (Arc<Hub>, Arc<EventQueue>),
        limits: &Limits,
    ) -> Result<Self> {
        let runtime = Handle::try_current().map_err(|_| {
            Error::Build("a server with an event bus is built on a tokio runtime".to_owned())
        })?;
        let replica = random_id().map_err(|_| Error::Build(NO_RANDOM_BYTES.to_owned()))?;
        let sender = Sender::new(server, replica, limits);
        let link = EventLink::new(
            hub,
            Arc::clone(&queue),
            sender,
            limits.events.refresh_interval,
        );
        let longest = limits.events.max_backoff;
        let task = runtime.spawn(async move {
            let refreshing = link.clone();
            let mut refreshing = pin!(refreshing.refresh());
            let mut running = pin!(supervise(bus, link, queue, longest));
            poll_fn(|context| {
                let _never = refreshing.as_mut().poll(context);
                running.as_mut().poll(context)
            })
            .await;
        });
        Ok(Self {
            task: task.abort_handle(),
        })
    }
}

async fn supervise(
    bus: Arc<dyn EventBus>,
    link: EventLink,
    queue: Arc<EventQueue>,
    longest: Duration,
) {
    let longest = longest.max(FIRST_PAUSE);
    let mut pause = FIRST_PAUSE;
    loop {
        let begun = Instant::now();
        let error = run(&*bus, link.clone()).await;
        queue.put_back();
        // Only a connection that held for a while shows that all is well again.
        if begun.elapsed() >= longest {
            pause = FIRST_PAUSE;
        }
        let wait = jittered(pause);
        tracing::warn!(%error, retry_in = ?wait, "the event bus is not connected");
        sleep(wait).await;
        pause = pause.saturating_mul(2).min(longest);
    }
}

/// Runs a bus once; returns why it has ended.
async fn run(bus: &dyn EventBus, link: EventLink) -> Box<dyn StdError + Send + Sync> {
    let mut running = match catch(|| bus.run(link)) {
        Ok(running) => running,
        Err(message) => return panicked(&message),
    };
    let ended = poll_fn(|context| match catch(|| running.as_mut().poll(context)) {
        Ok(polled) => polled.map(|ended| match ended {
            Ok(()) => "it has ended".into(),
            Err(error) => error,
        }),
        Err(message) => std::task::Poll::Ready(panicked(&message)),
    });
    ended.await
}

fn panicked(message: &str) -> Box<dyn StdError + Send + Sync> {
    format!("it panicked: {message}").into()
}

/// Between half of `pause` and all of it, so that replicas do not all come back at once.
fn jittered(pause: Duration) -> Duration {
    let share = random::<1>().map_or(u8::MAX, |[byte]| byte);
    pause / 2 + pause / 2 * u32::from(share) / u32::from(u8::MAX)
}
