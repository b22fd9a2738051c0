//! The program `treenail`, run as a process against servers of ours: what it prints, what it asks, how it ends.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod answers;
mod calls;
mod ends;
mod generate;
mod http;
mod lists;
mod locks;
mod reads;
mod run;
#[cfg(unix)]
mod terminal;
