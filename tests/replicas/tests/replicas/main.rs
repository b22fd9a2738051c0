//! Tests of replicas: several processes that act as one server over HTTP.
//!
//! Tests that start a Redis are ignored by default: `cargo test --package replicas -- --ignored`, with `redis-server` on the `PATH`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod conversation;
mod disk;
mod kill;
mod pause;
mod process;
mod redis;
mod request;
