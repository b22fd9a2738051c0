//! Proxies: servers behind a server, between all eras.

#![allow(
    clippy::excessive_nesting,
    reason = "a server of a test is a closure that matches messages"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod absent;
mod back_pressure;
mod calls;
mod ends;
mod faults;
mod features;
mod interfaces;
mod late_resources;
mod late_tasks;
mod lifecycle;
mod list_expiry;
mod list_faults;
mod log;
mod log_floods;
mod meta;
mod names;
mod new_sessions;
mod over_http;
mod question_limits;
mod question_owners;
mod questions;
mod read_rounds;
mod sampling;
mod script;
#[path = "../client/sent.rs"]
mod sent;
mod sign_in;
mod station;
mod streams;
mod subscription_faults;
mod subscriptions;
mod tasks;
mod unanswered_lists;
mod unreachable;
mod uris;
#[path = "../protocol/support/validator.rs"]
#[allow(dead_code, reason = "the tests of the protocol use more of it")]
mod validator;
mod waiting_bounds;
mod waiting_calls;
