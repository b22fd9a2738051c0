//! The program `treenail`, run as a process against servers of ours: what it prints, what it asks, how it ends.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod answers;
mod calls;
mod chat;
mod ends;
mod environment;
// The endpoint that the model of the tool loop is tested against too.
#[path = "../../../tests/agent/openai/fake.rs"]
mod fake;
mod generate;
mod http;
mod lists;
mod locks;
mod reads;
mod run;
#[cfg(unix)]
mod talk;
#[cfg(unix)]
mod terminal;
