//! Tests for stores of tasks.
//!
//! [`check_store`] tests every rule of [`TaskStore`] that one process can see, and [`check_shared_store`] those of two processes.
//! Requires the feature `test-tasks`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use treenail::tasks::{MemoryStore, TaskStore, test_kit};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! test_kit::check_store(async || Arc::new(MemoryStore::new()) as Arc<dyn TaskStore>).await;
//! # }
//! ```

mod changes;
mod concurrency;
mod contents;
mod orders;
mod shared;
mod wake;

use std::sync::Arc;

use crate::store::{StoredTask, TaskId, TaskStore};

/// Checks all rules of a store.
///
/// `create` returns an empty store, and is called for each rule. The check takes a few seconds where wake times follow the real
/// clock.
///
/// # Panics
///
/// If the store violates a rule. The message names the rule.
#[cfg(feature = "test-tasks")]
pub async fn check_store(create: impl AsyncFn() -> Arc<dyn TaskStore>) {
    changes::check(&create().await).await;
    contents::check_bodies(&create().await).await;
    contents::check_states(&create().await).await;
    contents::check_owners(&create().await).await;
    contents::check_extremes(&create().await).await;
    orders::check_list(&create().await).await;
    orders::check_usage(&create().await).await;
    wake::check_due(&create().await).await;
    wake::check_order(&create().await).await;
    concurrency::check_inserts(&create().await).await;
    concurrency::check_replacements(&create().await).await;
    concurrency::check_dropped_futures(&create().await).await;
}

/// Checks that two handles to the same tasks, as two processes have them, see the changes of each other.
///
/// `create` returns two stores with the same tasks, at first none. Each should have a connection of its own.
///
/// # Panics
///
/// If the stores violate a rule. The message names the rule.
#[cfg(feature = "test-tasks")]
pub async fn check_shared_store(create: impl AsyncFn() -> [Arc<dyn TaskStore>; 2]) {
    shared::check_visibility(&create().await).await;
    shared::check_due(&create().await).await;
    shared::check_replacements(&create().await).await;
}

/// Makes the clock of this process differ from that of the computer, by milliseconds that it is ahead. All tasks and stores of the
/// process have this clock, so a test of several processes sees the effect of clocks that differ.
#[doc(hidden)]
pub fn shift_clock(ahead_ms: i64) {
    crate::clock::shift(ahead_ms);
}

/// Creates a task with a random id, and a state that differs from its body.
fn task(owner: &str, created_ms: u64, body: impl Into<Vec<u8>>) -> StoredTask {
    let id = TaskId::random().expect("the operating system has random bytes");
    let mut task = StoredTask::new(id, owner, created_ms, body);
    task.state = state_of(&task.body);
    task
}

/// Returns the next version of a task.
fn next(task: &StoredTask, body: impl Into<Vec<u8>>) -> StoredTask {
    let mut next = task.clone();
    next.version += 1;
    next.body = body.into();
    next.state = state_of(&next.body);
    next
}

/// Returns a state of one byte.
fn state_of(body: &[u8]) -> Vec<u8> {
    vec![body.last().map_or(0, |last| !last)]
}
