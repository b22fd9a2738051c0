//! Tests of replicas: several processes that act as one server over HTTP.
//!
//! Tests that start a Redis or a PostgreSQL are ignored by default: `cargo test --package replicas -- --ignored`, with
//! `redis-server` on the `PATH`, and `initdb` and `postgres` there or in the directory of their Debian package.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod conversation;
mod disk;
mod kill;
mod log;
mod pause;
mod postgres;
mod process;
mod redis;
mod request;
mod stores;
