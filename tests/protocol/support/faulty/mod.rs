//! The server under test, with functions of each kind that panic, never end, or count their concurrent calls.

/// The same at run time.
pub(crate) mod twin;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::{Limits, Server};

/// Counters for events inside the functions.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Gets a permit for each started call of `never`.
    pub(crate) begun: Semaphore,
    /// Gets a permit for each dropped future of `never`.
    pub(crate) dropped: Semaphore,
    /// Current number of calls of `measured` and `large`, and its maximum.
    running: AtomicUsize,
    pub(crate) most: AtomicUsize,
    /// Number of finished calls of `large`, and of steps that `tell` has reported.
    pub(crate) done: AtomicUsize,
}

pub(crate) struct Fragile(Arc<Watch>);

pub(crate) fn fragile(limits: Limits) -> (Server, Arc<Watch>) {
    let watch = Arc::new(Watch {
        begun: Semaphore::new(0),
        dropped: Semaphore::new(0),
        running: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
    });
    let builder = treenail::server!().mount(Fragile(Arc::clone(&watch)));
    (builder.limits(limits).build().unwrap(), watch)
}

/// Adds a permit when it is dropped.
struct DropGuard(Arc<Watch>);

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.0.dropped.add_permits(1);
    }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("a secret");
    }
}

/// An error whose `Display` implementation panics.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("a secret");
    }
}

impl std::error::Error for Unspeakable {}

/// Serialized form of a `Bomb`.
#[mcp_type]
#[derive(Clone)]
struct Fuse {
    fuse: String,
}

/// A value whose conversions panic.
#[mcp_type]
#[derive(Clone)]
#[serde(from = "Fuse", into = "Fuse")]
struct Bomb;

impl From<Fuse> for Bomb {
    fn from(_: Fuse) -> Self {
        panic!("a secret");
    }
}

impl From<Bomb> for Fuse {
    fn from(_: Bomb) -> Self {
        panic!("a secret");
    }
}

#[mcp_tool]
impl Fragile {
    #[tool]
    fn at_once() {
        panic!("a secret");
    }

    #[tool]
    async fn in_first_poll(&self) {
        panic!("a secret");
    }

    #[tool]
    async fn later(&self) {
        tokio::task::yield_now().await;
        panic!("a secret");
    }

    #[tool(blocking)]
    fn on_a_thread() {
        panic!("a secret");
    }

    #[tool]
    fn takes(bomb: Bomb) -> &'static str {
        let Bomb = bomb;
        "taken"
    }

    #[tool]
    fn gives() -> Bomb {
        Bomb
    }

    #[tool]
    async fn fails() -> Result<(), Unspeakable> {
        tokio::task::yield_now().await;
        Err(Unspeakable)
    }

    /// Never ends, and panics when it is dropped.
    #[tool]
    async fn clings(&self) {
        let _guard = PanicsWhenDropped;
        self.0.begun.add_permits(1);
        std::future::pending::<()>().await;
    }

    #[tool]
    async fn never(&self) {
        let _guard = DropGuard(Arc::clone(&self.0));
        self.0.begun.add_permits(1);
        std::future::pending::<()>().await;
    }

    /// Runs beside others for a while.
    #[tool]
    async fn measured(&self, number: u32) -> String {
        let running = self.0.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(running, Ordering::SeqCst);
        for _ in 0..number % 4 {
            tokio::task::yield_now().await;
        }
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        number.to_string()
    }

    /// Answers 10,000 bytes.
    #[tool]
    async fn large(&self, later: bool) -> String {
        if later {
            tokio::task::yield_now().await;
        }
        self.0.done.fetch_add(1, Ordering::SeqCst);
        "x".repeat(10_000)
    }

    /// Tells 100 bytes of progress a step, without end.
    #[tool]
    async fn tell(&self, cx: &Context) {
        let _guard = DropGuard(Arc::clone(&self.0));
        for step in 1_u32.. {
            cx.progress(step).message("x".repeat(100)).await;
            self.0.done.store(step as usize, Ordering::SeqCst);
        }
    }

    #[prompt]
    fn prompt_at_once() -> String {
        panic!("a secret");
    }

    #[prompt]
    async fn prompt_later(#[arg(complete = proposed)] name: String) -> String {
        tokio::task::yield_now().await;
        panic!("a secret for {name}");
    }

    #[prompt(blocking)]
    fn prompt_on_a_thread() -> String {
        panic!("a secret");
    }

    #[resource("fragile://at-once")]
    fn resource_at_once() -> String {
        panic!("a secret");
    }

    #[resource("fragile://later/{name}")]
    async fn resource_later(#[arg(complete = Self::proposed_later)] name: String) -> String {
        tokio::task::yield_now().await;
        panic!("a secret of {name}");
    }

    #[resource("fragile://on-a-thread", blocking)]
    fn resource_on_a_thread() -> String {
        panic!("a secret");
    }

    async fn proposed_later(&self, typed: &str) -> Vec<String> {
        tokio::task::yield_now().await;
        panic!("a secret for {typed}");
    }
}

fn proposed(typed: &str) -> Vec<String> {
    panic!("a secret for {typed}");
}
