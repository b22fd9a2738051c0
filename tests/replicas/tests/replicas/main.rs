//! Tests of replicas: several processes that act as one server over HTTP.
//!
//! Tests with an event bus need Redis: `cargo test --package replicas --features redis`, with `redis-server` on the `PATH`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod conversation;
mod disk;
mod kill;
mod pause;
mod process;
#[cfg(feature = "redis")]
mod redis;
mod request;
