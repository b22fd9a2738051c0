//! Spans and metrics of servers and clients, exported by OTLP to a stand-in of a collector on the loopback interface.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod chain;
mod client;
mod collector;
mod metrics;
mod spans;
