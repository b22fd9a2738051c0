//! Supervision of a bus for the lifetime of its server.

use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::ask::{NO_RANDOM_BYTES, random_id};
use crate::bus::link::EventLink;
use crate::bus::message::MessageCodec;
use crate::bus::{EventBus, EventQueue};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::panic::catch;
use crate::retry::Backoff;
use crate::server::subscriptions::Hub;

/// Backoff after the first failure.
const INITIAL_BACKOFF: Duration = Duration::from_millis(100);

/// Handle to the task that runs a bus. Dropping it ends the task.
#[derive(Debug)]
pub(crate) struct Supervised {
    task: AbortHandle,
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// [`Supervised::start`], by pointer: a server without a bus does not compile it.
pub(crate) type StartBus =
    fn(Arc<dyn EventBus>, &str, (Arc<Hub>, Arc<EventQueue>), &Limits) -> Result<Supervised>;

impl Supervised {
    /// Starts `bus` for the server with this name. It publishes the events of `queue`, and passes received events to `hub`.
    #[inline]
    pub(crate) fn start(
        bus: Arc<dyn EventBus>,
        server: &str,
        (hub, queue): (Arc<Hub>, Arc<EventQueue>),
        limits: &Limits,
    ) -> Result<Self> {
        let runtime = Handle::try_current().map_err(|_| {
            Error::Build("a server with an event bus must be built on a tokio runtime".to_owned())
        })?;
        let replica = random_id().map_err(|_| Error::Build(NO_RANDOM_BYTES.to_owned()))?;
        let codec = MessageCodec::new(server, replica, limits);
        let link = EventLink::new(
            hub,
            Arc::clone(&queue),
            codec,
            limits.events.refresh_interval,
        );
        let max_backoff = limits.events.max_backoff;
        let task = runtime.spawn(async move {
            let refreshing = link.clone();
            let mut refreshing = pin!(refreshing.run_refresh());
            let mut running = pin!(supervise(bus, link, queue, max_backoff));
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
    max_backoff: Duration,
) {
    let backoff = Backoff {
        initial: INITIAL_BACKOFF,
        max: max_backoff.max(INITIAL_BACKOFF),
    };
    let mut failures = 0_u32;
    loop {
        let started = Instant::now();
        let error = run_once(&*bus, link.clone()).await;
        queue.requeue_in_flight();
        // A run that ends sooner does not prove that the engine is healthy again.
        if started.elapsed() >= backoff.max {
            failures = 0;
        }
        failures = failures.saturating_add(1);
        let delay = backoff.jittered_delay(failures);
        tracing::warn!(%error, retry_in = ?delay, "the event bus is not connected");
        sleep(delay).await;
    }
}

/// Runs a bus once, and returns the reason for its end.
async fn run_once(bus: &dyn EventBus, link: EventLink) -> Box<dyn StdError + Send + Sync> {
    let mut running = match catch(|| bus.run(link)) {
        Ok(running) => running,
        Err(message) => return panicked(&message),
    };
    let ended = poll_fn(|context| match catch(|| running.as_mut().poll(context)) {
        Ok(polled) => polled.map(|ended| match ended {
            Ok(()) => "the bus ended without an error".into(),
            Err(error) => error,
        }),
        Err(message) => std::task::Poll::Ready(panicked(&message)),
    });
    ended.await
}

fn panicked(message: &str) -> Box<dyn StdError + Send + Sync> {
    format!("the bus panicked: {message}").into()
}
