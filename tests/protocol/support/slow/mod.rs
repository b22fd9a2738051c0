//! The server under test, with tools that have a timeout or a limit of concurrent calls.

/// The same at run time.
pub(crate) mod twin;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_stream::StreamExt;
use treenail::prelude::*;
use treenail::{Limits, Server};

/// Counters for the calls of [`Slow`].
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) started: std::sync::Mutex<Vec<u32>>,
    running: AtomicUsize,
    pub(crate) most: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
    /// Each permit releases one call.
    pub(crate) gate: Gate,
}

pub(crate) struct Gate(pub(crate) Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

/// Counts a call while it runs.
struct Running(Arc<Seen>, bool);

impl Running {
    fn begin(seen: &Arc<Seen>, call: u32) -> Self {
        seen.started.lock().unwrap().push(call);
        let running = 1 + seen.running.fetch_add(1, Ordering::SeqCst);
        seen.most.fetch_max(running, Ordering::SeqCst);
        Self(Arc::clone(seen), false)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        if !self.1 {
            self.0.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct Slow {
    seen: Arc<Seen>,
    block: std::sync::Mutex<Receiver<()>>,
}

impl Slow {
    async fn work(&self, call: u32) -> u32 {
        let mut running = Running::begin(&self.seen, call);
        self.seen.gate.0.acquire().await.unwrap().forget();
        running.1 = true;
        call
    }

    /// Yields one item and never ends.
    fn endless(&self, call: u32) -> impl Stream<Item = u32> + use<> {
        let running = Running::begin(&self.seen, call);
        let items = tokio_stream::once(call).chain(tokio_stream::pending());
        items.map(move |item| {
            let _ = &running;
            item
        })
    }
}

#[mcp_tool]
impl Slow {
    #[tool(timeout = Duration::from_secs(5))]
    async fn limited(&self, call: u32) -> u32 {
        self.work(call).await
    }

    #[tool(timeout = Duration::from_secs(5))]
    fn limited_stream(&self, call: u32) -> impl Stream<Item = u32> {
        self.endless(call)
    }

    #[tool(timeout = Duration::from_secs(5))]
    async fn waits_itself(seconds: u64) -> u64 {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        seconds
    }

    #[tool(timeout = Duration::MAX)]
    async fn patient(&self, seconds: u64) -> u64 {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        seconds
    }

    #[tool]
    async fn plain(&self, seconds: u64) -> u64 {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        seconds
    }

    #[tool(timeout = Duration::from_secs(5))]
    async fn explodes_when_dropped() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("a secret");
            }
        }
        let _bomb = Bomb;
        std::future::pending::<()>().await;
    }

    #[tool(max_concurrency = 2)]
    async fn two(&self, call: u32) -> u32 {
        self.work(call).await
    }

    #[tool(max_concurrency = 1, timeout = Duration::from_secs(5))]
    async fn one(&self, call: u32) -> u32 {
        self.work(call).await
    }

    #[tool(max_concurrency = 1)]
    fn at_once(call: u32) -> u32 {
        call
    }

    /// Blocks its thread until it is let go.
    #[tool(blocking, max_concurrency = 1, timeout = Duration::from_secs(5))]
    fn blocks(&self, call: u32) -> u32 {
        let mut running = Running::begin(&self.seen, call);
        self.block.lock().unwrap().recv().unwrap();
        running.1 = true;
        call
    }
}

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) seen: Arc<Seen>,
    pub(crate) unblock: Sender<()>,
}

pub(crate) fn fixture(limits: Limits) -> Fixture {
    let seen = Arc::new(Seen::default());
    let (unblock, block) = channel();
    let slow = Slow {
        seen: Arc::clone(&seen),
        block: block.into(),
    };
    let server = treenail::server!().mount(slow).limits(limits);
    Fixture {
        server: server.build().unwrap(),
        seen,
        unblock,
    }
}
