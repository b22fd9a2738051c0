//! Tools of the attacked server, in addition to those of the other tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use treenail::prelude::*;

/// Counters for calls.
#[derive(Clone, Default)]
pub(crate) struct Counters {
    hits: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
}

struct Running(Arc<AtomicUsize>);

impl Running {
    fn new(running: &Arc<AtomicUsize>) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(running))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[mcp_tool]
impl Counters {
    /// Counts its calls.
    #[tool]
    fn hit(&self) -> usize {
        self.hits.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the number of calls of `hit`.
    #[tool]
    fn hits(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }

    /// Returns the number of calls of `babble` and `sleep` in flight.
    #[tool]
    fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Reports far more progress than socket buffers hold.
    #[tool]
    async fn babble(&self, cx: &Context) {
        let _running = Running::new(&self.running);
        for step in 0..800 {
            cx.progress(step).message("x".repeat(10_000)).await;
        }
    }

    /// Never returns.
    #[tool]
    async fn sleep(&self) {
        let _running = Running::new(&self.running);
        std::future::pending::<()>().await;
    }

    /// Adds many numbers.
    #[tool]
    fn sum(numbers: Vec<i64>) -> i64 {
        numbers
            .iter()
            .fold(0, |sum, number| sum.wrapping_add(*number))
    }

    /// Accepts any value.
    #[tool]
    fn any(value: Value) -> bool {
        !value.is_null()
    }
}
