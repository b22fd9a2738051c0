//! Several processes that serve as one server over HTTP.
//!
//! Those that hear of each other need a Redis: `cargo test --package replicas --features redis`, with `redis-server` on the
//! `PATH`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod conversation;
mod process;
#[cfg(feature = "redis")]
mod redis;
mod request;
